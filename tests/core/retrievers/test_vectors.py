"""What a model makes of texts is asked for once, checked, and kept."""

import logging
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from deferred_tools.errors import ConfigurationError
from deferred_tools.retrievers import vectors as vectors_module
from deferred_tools.retrievers.embedder import EmbeddingError
from deferred_tools.retrievers.vector_cache import VectorCache, key_of
from deferred_tools.retrievers.vectors import Vectors
from tests.core.retrievers.word_model import NUMBERS, WordModel

TEXTS = ["send a message", "read an invoice", "forecast", "send a message"]


def test_a_text_is_embedded_once_and_its_vector_has_length_1() -> None:
    model = WordModel()
    vectors = Vectors(model)
    rows = vectors.documents(TEXTS)
    assert rows.shape == (4, NUMBERS)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1)
    assert np.array_equal(rows[0], rows[3])
    assert np.array_equal(vectors.documents(TEXTS), rows)
    assert sorted(model.documents) == sorted(set(TEXTS))


def test_rows_are_in_the_order_of_the_texts_whatever_the_batches() -> None:
    texts = [f"{'word ' * (17 * number % 7)}{number}" for number in range(20)]
    alone = np.stack([Vectors(WordModel()).documents([text])[0] for text in texts])
    for batch in (1, 3, 50):
        assert np.array_equal(Vectors(WordModel(), batch=batch).documents(texts), alone)


def test_queries_are_read_as_queries_and_remembered() -> None:
    model = WordModel()
    vectors = Vectors(model)
    assert vectors.queries(["mail", "mail"]).shape == (2, NUMBERS)
    vectors.queries(["mail"])
    assert (model.queries, model.documents) == (["mail"], [])


def test_no_texts_give_no_rows_and_ask_nobody() -> None:
    model = WordModel()
    assert len(Vectors(model).documents([])) == 0
    assert model.documents == []


def test_another_process_start_asks_nothing_again(tmp_path: Path) -> None:
    first, second, other = WordModel(), WordModel(), WordModel()
    rows = Vectors(first, model="words-1", cache=VectorCache(tmp_path)).documents(TEXTS)
    again = Vectors(second, model="words-1", cache=VectorCache(tmp_path))
    assert np.array_equal(again.documents([*TEXTS, "new"])[:4], rows)
    assert second.documents == ["new"]
    Vectors(other, model="words-2", cache=VectorCache(tmp_path)).documents(TEXTS)
    assert sorted(other.documents) == sorted(set(TEXTS))


def test_another_process_asks_nothing_again(tmp_path: Path) -> None:
    Vectors(WordModel(), model="words", cache=VectorCache(tmp_path)).documents(TEXTS)
    code = f"""
from pathlib import Path
from deferred_tools.retrievers.vector_cache import VectorCache, key_of
from deferred_tools.retrievers.vectors import Vectors

def fail(texts):
    raise AssertionError(texts)

cache = VectorCache(Path({str(tmp_path)!r}))
print(Vectors(fail, model="words", cache=cache).documents({TEXTS!r}).shape)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == (f"(4, {NUMBERS})", "")


def test_what_a_model_gave_before_it_failed_is_kept(tmp_path: Path) -> None:
    class Failing(WordModel):
        def embed_documents(
            self, texts: list[str]
        ) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
            if len(self.documents) >= 2:
                raise RuntimeError("out of credit")
            return super().embed_documents(texts)

    cache = VectorCache(tmp_path)
    texts = ["a b", "c d", "e f", "g h"]
    with pytest.raises(EmbeddingError):
        Vectors(Failing(), model="words", cache=cache, batch=1).documents(texts)
    model = WordModel()
    Vectors(model, model="words", cache=cache).documents(texts)
    assert len(model.documents) == 2


def test_what_a_model_gave_before_the_process_ended_is_kept(tmp_path: Path) -> None:
    code = f"""
import threading
from pathlib import Path
from deferred_tools.retrievers.vector_cache import VectorCache, key_of
from deferred_tools.retrievers.vectors import Vectors

begun = threading.Event()
vectors = Vectors(
    lambda texts: [[1.0] for _ in texts],
    model="ones",
    cache=VectorCache(Path({str(tmp_path)!r})),
    batch=1,
    progress=lambda done, of: begun.set(),
)
texts = [str(number) for number in range(10**5)]
threading.Thread(target=vectors.documents, args=[texts], daemon=True).start()
begun.wait(30)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    keys = [key_of(str(number)) for number in range(10**5)]
    assert 0 < len(VectorCache(tmp_path).get("ones", keys)) < len(keys)


def test_a_cache_needs_to_know_whose_vectors_it_keeps(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="`model`"):
        Vectors(WordModel(), cache=VectorCache(tmp_path))


def test_a_model_that_changed_behind_its_name_is_noticed(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path)
    Vectors(lambda texts: [[1.0, 2.0] for _ in texts], model="m", cache=cache).documents(["a"])
    changed = Vectors(lambda texts: [[1.0, 2.0, 3.0] for _ in texts], model="m", cache=cache)
    with pytest.raises(EmbeddingError, match=r"\[2, 3\] numbers"):
        changed.documents(["a", "b"])


def test_progress_is_told_after_each_batch() -> None:
    told: list[tuple[int, int]] = []
    vectors = Vectors(WordModel(), batch=2, progress=lambda done, of: told.append((done, of)))
    vectors.documents(["a", "b", "c", "d", "e"])
    assert told == [(2, 5), (4, 5), (5, 5)]


def test_progress_of_long_work_is_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        Vectors(WordModel(), model="mine").documents(["a"])
        assert not caplog.messages
        monkeypatch.setattr(vectors_module, "TOLD_EVERY", 0.0)
        Vectors(WordModel(), model="mine", batch=1).documents(["a", "b"])
    assert caplog.messages == ["mine has embedded 1 of 2 texts", "mine has embedded 2 of 2 texts"]


def test_threads_that_want_the_same_texts_share_the_work() -> None:
    model = WordModel()
    vectors = Vectors(model, batch=2)
    texts = [f"tool {number}" for number in range(40)]
    start = threading.Barrier(4)

    def embed() -> bytes:
        start.wait(timeout=10)
        return vectors.documents(texts).tobytes()

    with ThreadPoolExecutor(4) as pool:
        rows = {running.result() for running in [pool.submit(embed) for _ in range(4)]}
    assert len(rows) == 1
    assert sorted(model.documents) == sorted(texts)


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectors_module, "REMEMBERED", 10)
    monkeypatch.setattr(vectors_module, "REMEMBERED_QUERIES", 10)
    model = WordModel()
    vectors = Vectors(model, batch=1)
    texts = [f"tool {number}" for number in range(25)]
    expected = np.stack([Vectors(WordModel()).documents([text])[0] for text in texts])
    assert np.array_equal(vectors.documents(texts), expected)
    assert sorted(model.documents) == sorted(texts)
    for start in range(0, 25, 5):
        part = slice(start, start + 5)
        assert np.array_equal(vectors.queries(texts[part]), expected[part])
