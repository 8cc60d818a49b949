"""Retrieval by meaning, over a small model of meaning."""

from pathlib import Path
from threading import Event

import numpy as np
import pytest

from deferred_tools.retrievers.bm25 import BM25Retriever
from deferred_tools.retrievers.embedder import EmbeddingError
from deferred_tools.retrievers.embeddings import DECOYS, EmbeddingsRetriever, embeddings
from deferred_tools.retrievers.fallback import FallbackRetriever
from deferred_tools.retrievers.vector_cache import VectorCache
from deferred_tools.retrievers.vectors import Vectors
from deferred_tools.spec import ToolSpec
from deferred_tools.testing.retrievers import check_retriever
from tests.core.retrievers.few_tools import SPECS
from tests.core.retrievers.word_model import WordModel

TOOLS = (
    ToolSpec(source="post", tool="sendMessage", description="Send a message to a person"),
    ToolSpec(source="books", tool="read_invoice", description="Read one invoice"),
    ToolSpec(source="weather", tool="get_forecast", description="Get the forecast for a city"),
)


def over(tools: tuple[ToolSpec, ...] = TOOLS) -> EmbeddingsRetriever:
    retriever = EmbeddingsRetriever(Vectors(WordModel()))
    retriever.index(tools)
    return retriever


def names(retriever: EmbeddingsRetriever, query: str) -> list[str]:
    return [hit.name for hit in retriever.search(query, 10)]


def test_it_keeps_the_promises_of_a_retriever() -> None:
    check_retriever(lambda: EmbeddingsRetriever(Vectors(WordModel())))


def test_so_does_what_answers_while_the_model_cannot() -> None:
    made: list[FallbackRetriever] = []
    factory = embeddings(Vectors(WordModel()))

    def make() -> FallbackRetriever:
        made.append(factory())
        return made[-1]

    check_retriever(make)
    assert [retriever.problem for retriever in made if retriever.problem] == []


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("write a letter", "post__sendMessage"),
        ("bill", "books__read_invoice"),
        ("temperature", "weather__get_forecast"),
    ],
)
def test_other_words_of_the_same_meaning_find_a_tool(query: str, name: str) -> None:
    assert names(over(), query)[0] == name


def test_what_is_no_more_like_a_request_than_a_decoy_is_not_found() -> None:
    vague = EmbeddingsRetriever(Vectors(lambda texts: [[1.0, len(text) % 3] for text in texts]))
    vague.index(TOOLS)
    assert vague.search("anything", 5) == []
    for decoy in DECOYS:
        assert names(over(), decoy) == []


def test_likeness_is_told_of_every_tool() -> None:
    retriever = over()
    assert retriever.likeness("letter").argmax() == 0
    assert retriever.likeness("bill").argmax() == 1
    assert retriever.likeness("zzqx").tolist() == [0, 0, 0]
    assert EmbeddingsRetriever(Vectors(WordModel())).likeness("letter").shape == (0,)


def test_each_part_of_a_request_finds_its_tool() -> None:
    request = "Post letter Anna today, and then temperature Rome tomorrow noon"
    both = ["post__sendMessage", "weather__get_forecast"]
    assert sorted(names(over(), request)[:2]) == both


def test_one_changed_tool_is_one_question(tmp_path: Path) -> None:
    model = WordModel()
    vectors = Vectors(model, model="words", cache=VectorCache(tmp_path))
    EmbeddingsRetriever(vectors).index(SPECS)
    asked = set(model.documents)
    changed = ToolSpec(source="db", tool="query", description="Run a statement")
    EmbeddingsRetriever(vectors).index([*SPECS[:-1], changed])
    assert set(model.documents) - asked == {"Run a statement"}
    assert len(model.documents) == len(asked) + 1
    again = WordModel()
    other = Vectors(again, model="words", cache=VectorCache(tmp_path))
    EmbeddingsRetriever(other).index([*SPECS[:-1], changed])
    assert again.documents == []


def test_a_failing_model_is_told() -> None:
    def fail(texts: list[str]) -> list[list[float]]:
        raise ConnectionError

    with pytest.raises(EmbeddingError):
        EmbeddingsRetriever(Vectors(fail)).index(SPECS)
    retriever = embeddings(Vectors(fail, model="mine"))()
    retriever.index(SPECS)
    bm25 = BM25Retriever()
    bm25.index(SPECS)
    assert retriever.search("issue", 5) == bm25.search("issue", 5)
    assert "'mine' failed" in retriever.problem


def test_a_slow_model_does_not_hold_up_the_tools() -> None:
    go_on = Event()

    class Slow(WordModel):
        def embed_documents(self, texts: list[str]) -> np.ndarray:
            assert go_on.wait(10)
            return super().embed_documents(texts)

    retriever = embeddings(Vectors(Slow()), index_seconds=0)()
    retriever.index(TOOLS)
    assert [hit.name for hit in retriever.search("invoice", 5)] == ["books__read_invoice"]
    assert "not ready" in retriever.problem
    go_on.set()


def test_a_model_whose_queries_are_of_another_length_is_told() -> None:
    class Uneven(WordModel):
        def embed_query(self, text: str) -> np.ndarray:
            return super().embed_query(text)[:7]

    retriever = EmbeddingsRetriever(Vectors(Uneven()))
    retriever.index(TOOLS)
    with pytest.raises(EmbeddingError, match="7 numbers for a query"):
        retriever.search("letter", 5)
