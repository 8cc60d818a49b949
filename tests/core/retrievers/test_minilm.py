"""The packaged model: loaded when it is needed, offline, and clear when it is not there."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from deferred_tools.retrievers.embeddings import EmbeddingsRetriever
from deferred_tools.retrievers.minilm import MiniLM
from deferred_tools.retrievers.vectors import Vectors
from deferred_tools.spec import ToolSpec

TOOLS = (
    ToolSpec(source="github", tool="create_issue", description="Open an issue in a repository"),
    ToolSpec(source="mail", tool="send_message", description="Send an e-mail to a person"),
    ToolSpec(source="weather", tool="get_forecast", description="Weather forecast for a city"),
    ToolSpec(source="files", tool="read_file", description="Read the content of a file"),
    ToolSpec(source="shop", tool="list_orders", description="List the orders of a customer"),
)


@pytest.fixture(scope="module")
def model() -> MiniLM:
    return MiniLM()


def test_vectors_are_those_of_the_model(model: MiniLM) -> None:
    vector = model.embed_query("invoice")
    assert vector.shape == (384,)
    assert vector.dtype == np.float32
    # The first numbers that the model's own tokenizer and runtime give.
    assert np.allclose(vector[:4], [-0.09698, 0.07890, -0.02054, -0.03177], atol=2e-3)
    assert np.isclose(np.linalg.norm(vector), 1)


def test_a_vector_does_not_depend_on_its_batch(model: MiniLM) -> None:
    texts = ["read a file", "", "a much longer text about something else " * 20, "読む"]
    alone = np.stack([model.embed_query(text) for text in texts])
    assert np.allclose(model.embed_documents(texts), alone, atol=1e-5)


def test_a_long_text_is_cut(model: MiniLM) -> None:
    text = "word " * 300
    assert np.array_equal(model.embed_query(text), model.embed_query(text + "and more"))


def test_threads_may_share_one() -> None:
    fresh = MiniLM()
    with ThreadPoolExecutor(4) as pool:
        vectors = list(pool.map(fresh.embed_query, ["send a mail"] * 8))
    assert all(np.array_equal(vector, vectors[0]) for vector in vectors)


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("report a bug", "github__create_issue"),
        ("write to a colleague", "mail__send_message"),
        ("will it rain tomorrow?", "weather__get_forecast"),
        ("what did she buy?", "shop__list_orders"),
    ],
)
def test_a_request_in_other_words_finds_its_tool(model: MiniLM, query: str, name: str) -> None:
    retriever = EmbeddingsRetriever(Vectors(model))
    retriever.index(TOOLS)
    assert retriever.search(query, 1)[0].name == name


def test_nonsense_finds_nothing(model: MiniLM) -> None:
    retriever = EmbeddingsRetriever(Vectors(model))
    retriever.index(TOOLS)
    for query in ("zzqx vlorp", "plugh xyzzy", "hjkl uiop"):
        assert retriever.search(query, 5) == []


def test_a_process_may_end_while_the_model_works() -> None:
    code = """
from deferred_tools.retrievers.embeddings import embeddings
from deferred_tools.retrievers.minilm import MiniLM
from deferred_tools.retrievers.vectors import Vectors
from deferred_tools.spec import ToolSpec
retriever = embeddings(Vectors(MiniLM()), index_seconds=1)()
tools = [ToolSpec(source="s", tool=f"t{n}", description=f"Do {n} things") for n in range(5000)]
retriever.index(tools)
print(retriever.problem)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "not ready" in done.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_it_outlives_a_fork() -> None:
    code = """
import os
from deferred_tools.retrievers.minilm import MiniLM
model = MiniLM()
before = model.embed_query("a").tobytes()
pid = os.fork()
if not pid:
    os._exit(model.embed_query("a").tobytes() != before)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.stdout.strip(), done.stderr) == ("0", "")
