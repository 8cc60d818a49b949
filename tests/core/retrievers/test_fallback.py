"""A simpler retriever answers while a better one cannot."""

import contextvars
import logging
import threading
from collections.abc import Collection, Iterator, Sequence

import pytest

from deferred_tools.errors import HostError
from deferred_tools.retrievers import fallback
from deferred_tools.retrievers.base import Hit, Retriever
from deferred_tools.retrievers.bm25 import BM25Retriever
from deferred_tools.retrievers.fallback import FallbackRetriever
from deferred_tools.spec import ToolSpec
from deferred_tools.testing.retrievers import check_retriever
from tests.core.retrievers.few_tools import SPECS

BETTER = [Hit("better", 1.0)]
DEADLINE = 10


class Better:
    """A retriever that fails and hangs as it is told."""

    def __init__(self, simple: Retriever | None = None) -> None:
        self.error: Exception | None = None
        self.go_on = threading.Event()
        self.go_on.set()
        self.indexed = threading.Event()
        self.searches = 0

    def index(self, specs: Sequence[ToolSpec]) -> None:
        self._work()
        self.indexed.set()

    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        self.searches += 1
        self._work()
        return BETTER

    def _work(self) -> None:
        assert self.go_on.wait(DEADLINE)
        if self.error:
            raise self.error


@pytest.fixture
def better() -> Iterator[Better]:
    made = Better()
    yield made
    made.go_on.set()


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fallback, "PAUSE", 0.0)


def over(better: Better, *, index: float = DEADLINE, search: float = DEADLINE) -> FallbackRetriever:
    return FallbackRetriever(lambda _: better, index_seconds=index, search_seconds=search)


def join_threads() -> None:
    for thread in threading.enumerate():
        if thread.name == "deferred-tools-retriever":
            thread.join(DEADLINE)


def simple_hits() -> list[Hit]:
    simple = BM25Retriever()
    simple.index(SPECS)
    return simple.search("issue", 5)


def test_the_better_one_answers_while_it_can(better: Better) -> None:
    retriever = over(better)
    assert retriever.search("issue", 5) == []
    retriever.index(SPECS)
    assert retriever.search("issue", 5) == BETTER
    assert retriever.problem == ""


def test_it_keeps_the_promises_of_a_retriever() -> None:
    check_retriever(lambda: FallbackRetriever(lambda simple: BM25Retriever()))


def test_the_better_one_may_build_on_the_simple_one() -> None:
    class Louder:
        def __init__(self, simple: Retriever) -> None:
            self.simple = simple

        def index(self, specs: Sequence[ToolSpec]) -> None:
            pass

        def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
            return [Hit(hit.name, 2 * hit.score) for hit in self.simple.search(query, k, within)]

    retriever = FallbackRetriever(Louder)
    retriever.index(SPECS)
    assert retriever.search("issue", 5) == [Hit(h.name, 2 * h.score) for h in simple_hits()]


def test_one_that_fails_to_search_costs_only_itself(
    better: Better, caplog: pytest.LogCaptureFixture
) -> None:
    retriever = over(better)
    retriever.index(SPECS)
    better.error = ValueError("https://example/?key=s3cret")
    for _ in range(3):
        assert retriever.search("issue", 5) == simple_hits()
    assert "ValueError" in retriever.problem
    assert "s3cret" not in retriever.problem + caplog.text
    assert len(caplog.messages) == 1
    better.error = None
    with caplog.at_level(logging.INFO):
        assert retriever.search("issue", 5) == BETTER
    assert retriever.problem == ""
    assert "ranks the tools again" in caplog.messages[-1]


def test_an_error_of_ours_is_told_in_full(better: Better) -> None:
    retriever = over(better)
    retriever.index(SPECS)
    better.error = HostError("The model is gone: start it.")
    retriever.search("issue", 5)
    assert "The model is gone: start it." in retriever.problem


def test_one_that_failed_is_left_alone_for_a_while(
    better: Better, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fallback, "PAUSE", 3600.0)
    retriever = over(better)
    retriever.index(SPECS)
    better.error = ValueError()
    for _ in range(3):
        assert retriever.search("issue", 5) == simple_hits()
    assert better.searches == 1


def test_one_that_is_slow_to_index_answers_when_it_is_ready(better: Better) -> None:
    better.go_on.clear()
    retriever = over(better, index=0)
    retriever.index(SPECS)
    assert retriever.search("issue", 5) == simple_hits()
    assert "not ready yet" in retriever.problem
    better.go_on.set()
    join_threads()
    assert retriever.search("issue", 5) == BETTER


def test_one_that_fails_to_index_is_indexed_again(better: Better) -> None:
    better.error = ConnectionError()
    retriever = over(better)
    retriever.index(SPECS)
    assert "ConnectionError" in retriever.problem
    better.error = None
    assert retriever.search("issue", 5) == simple_hits()
    join_threads()
    assert retriever.search("issue", 5) == BETTER


def test_searches_that_hang_are_bounded_and_waited_for_no_longer_than_told(better: Better) -> None:
    retriever = over(better, search=0.01)
    retriever.index(SPECS)
    better.go_on.clear()
    for _ in range(3 * fallback.HANGING):
        assert retriever.search("issue", 5) == simple_hits()
    assert better.searches == fallback.HANGING
    assert "did not answer within 0.01 s" in retriever.problem


def test_a_process_without_a_thread_left_finds_tools_all_the_same(
    better: Better, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    retriever = over(better)
    retriever.index(SPECS)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert retriever.search("issue", 5) == simple_hits()
    assert "RuntimeError" in retriever.problem


def test_a_search_sees_the_context_of_its_caller() -> None:
    variable = contextvars.ContextVar("variable", default="")
    seen = []

    class Seeing(Better):
        def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
            seen.append(variable.get())
            return []

    retriever = FallbackRetriever(Seeing)
    retriever.index(SPECS)
    variable.set("mine")
    assert retriever.search("issue", 5) == []
    assert seen == ["mine"]


def test_what_makes_the_better_one_may_refuse() -> None:
    def refuse(simple: Retriever) -> Retriever:
        raise LookupError("not installed")

    with pytest.raises(LookupError):
        FallbackRetriever(refuse).index(SPECS)
