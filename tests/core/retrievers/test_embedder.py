"""What a model gives is checked before it is used."""

from typing import Any

import numpy as np
import pytest

from deferred_tools.retrievers.embedder import CheckedModel, EmbeddingError
from tests.core.retrievers.word_model import WordModel


def test_a_function_is_a_model_too() -> None:
    model = CheckedModel(lambda texts: [[float(len(text)), 1.0] for text in texts], "mine")
    assert np.array_equal(model.documents(["abc"])[0], model.queries(["abc"])[0])


def test_a_text_that_says_nothing_has_a_vector_of_zeros() -> None:
    assert not CheckedModel(WordModel(), "words").documents(["?!"]).any()


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([[1.0, 2.0]], r"\(1, 2\) for 2"),
        ([1.0, 2.0], r"\(2,\) for 2"),
        ([[], []], r"\(2, 0\) for 2"),
        ([[1.0], [float("nan")]], "not finite"),
        ([[1.0], [float("inf")]], "not finite"),
        ([[1.0], [1.0, 2.0]], "ValueError"),
        ([["a"], ["b"]], "ValueError"),
        (None, "for 2"),
    ],
)
def test_what_are_no_vectors_is_said(given: Any, told: str) -> None:
    model = CheckedModel(lambda texts: given, "mine")
    with pytest.raises(EmbeddingError, match=told) as raised:
        model.documents(["a", "b"])
    assert "'mine'" in str(raised.value)


def test_what_a_failing_model_says_is_not_passed_on() -> None:
    def fail(texts: list[str]) -> list[list[float]]:
        raise ConnectionError("https://models.example/?key=s3cret")

    with pytest.raises(EmbeddingError, match="ConnectionError") as raised:
        CheckedModel(fail, "mine").queries(["a"])
    assert "s3cret" not in str(raised.value)


def test_vectors_have_length_1_and_are_no_copies_of_what_was_given() -> None:
    given = np.array([[3.0, 4.0], [0.0, 2.0]])
    rows = CheckedModel(lambda texts: given, "mine").documents(["a", "b"])
    assert np.allclose(rows, [[0.6, 0.8], [0.0, 1.0]])
    assert rows.dtype == np.float32
    assert given[0, 0] == 3.0


def test_queries_are_read_as_queries() -> None:
    model = WordModel()
    CheckedModel(model, "words").queries(["a", "b"])
    assert (model.queries, model.documents) == (["a", "b"], [])


def test_a_function_is_given_all_queries_at_once() -> None:
    given: list[list[str]] = []

    def embed(texts: list[str]) -> list[list[float]]:
        given.append(texts)
        return [[1.0] for _ in texts]

    CheckedModel(embed, "mine").queries(["a", "b"])
    assert given == [["a", "b"]]


def test_a_model_may_have_the_methods_of_llama_index() -> None:
    class Lengths:
        def get_text_embedding_batch(self, texts: list[str]) -> list[list[float]]:
            return [[float(len(text)), 1.0] for text in texts]

        def get_query_embedding(self, query: str) -> list[float]:
            return [0.0, 1.0]

    model = CheckedModel(Lengths(), "lengths")
    assert model.documents(["ab"])[0][0] > 0
    assert model.queries(["ab", "c"]).tolist() == [[0.0, 1.0], [0.0, 1.0]]
