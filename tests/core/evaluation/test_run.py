"""A run over few tools, with a retriever whose answers are known."""

from collections.abc import Collection, Sequence

from deferred_tools.evaluation.data import Query
from deferred_tools.evaluation.run import Latency, evaluate
from deferred_tools.retrievers.base import Hit
from deferred_tools.spec import ToolSpec

TOOLS = [ToolSpec(source="s", tool=name, name=name) for name in "abcdefgh"]


class InOrder:
    """Finds every tool in catalogue order, and counts how often it was asked."""

    def __init__(self) -> None:
        self.indexed = 0
        self.asked: list[str] = []
        self._names: list[str] = []

    def index(self, specs: Sequence[ToolSpec]) -> None:
        self.indexed += 1
        self._names = [spec.name for spec in specs]

    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        self.asked.append(query)
        return [Hit(name, 1.0) for name in self._names[:k]] if query != "nothing" else []


def query(text: str, *relevant: str) -> Query:
    return Query(text, text, frozenset(relevant))


def test_tools_are_indexed_once_and_every_query_is_ranked_once() -> None:
    retriever = InOrder()
    evaluate("order", retriever, TOOLS, [query("one", "a"), query("two", "b")])
    assert (retriever.indexed, retriever.asked) == (1, ["one", "two"])


def test_scores_are_means_over_the_queries() -> None:
    found = evaluate("order", InOrder(), TOOLS, [query("one", "a"), query("two", "b", "missing")])
    assert (found.retriever, found.queries) == ("order", 2)
    assert found.scores.recall_1 == 0.5
    assert found.scores.recall_3 == 0.75
    assert found.scores.mrr == 0.75
    assert found.scores.complete_10 == 0.5


def test_tokens_are_those_of_the_first_five_tools() -> None:
    five = evaluate("order", InOrder(), TOOLS[:5], [query("one", "a")]).tokens_per_search
    assert evaluate("order", InOrder(), TOOLS, [query("one", "a")]).tokens_per_search == five > 0
    half = evaluate("order", InOrder(), TOOLS, [query("one", "a"), query("nothing", "a")])
    assert half.tokens_per_search == five / 2


def test_latency_is_what_half_and_nearly_all_searches_needed_at_most() -> None:
    assert Latency.of([7.0]) == Latency(7.0, 7.0)
    assert Latency.of([float(us) for us in range(100, 0, -1)]) == Latency(50.0, 95.0)


def test_time_is_measured() -> None:
    found = evaluate("order", InOrder(), TOOLS, [query("one", "a")])
    assert found.latency_us.p95 >= found.latency_us.p50 >= 0
    assert found.index_seconds >= 0
