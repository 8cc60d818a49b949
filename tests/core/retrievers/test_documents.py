"""Engines that search documents rank tools, whatever their scores mean."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools import ToolSpec
from deferred_tools.retrievers.documents import (
    BATCH,
    FETCHES,
    QUERY_LENGTH,
    Found,
    NamingRetriever,
    SharedStore,
    StoreRetriever,
    ToolDocument,
)

TOOLS = tuple(ToolSpec(source="crowd", tool=f"tool_{number}") for number in range(400))


@dataclass
class Scored:
    """A store that finds documents as it was told; others' documents first, if there are any."""

    likeness: dict[str, float]
    kind: str = "likeness"
    others: int = 0
    held: list[ToolDocument] = field(default_factory=list)
    given: list[int] = field(default_factory=list)
    asked: list[tuple[str, int]] = field(default_factory=list)

    def add(self, documents: Sequence[ToolDocument]) -> None:
        self.given.append(len(documents))
        self.held += documents

    def best(self, query: str, most: int) -> list[Found]:
        self.asked.append((query, most))
        scores = [(self.likeness.get(one.tool, 0.0), one.metadata) for one in self.held]
        scores += [(1.0, {"tool": "crowd__tool_1"})] * self.others
        best = sorted(scores, key=lambda pair: -pair[0])[:most]
        meaning = {"likeness": lambda one: one, "distance": lambda one: 1 - one}
        return [
            Found(metadata, None if self.kind == "none" else meaning[self.kind](score))
            for score, metadata in best
        ]


def over(store: Scored, tools: Sequence[ToolSpec] = TOOLS) -> StoreRetriever:
    retriever = StoreRetriever(store)
    retriever.index(tools)
    return retriever


@given(
    likeness=st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=60, max_size=60),
    within=st.none() | st.sets(st.integers(0, 60), max_size=5),
    k=st.integers(0, 30),
    others=st.sampled_from([0, 5, 100]),
    kind=st.sampled_from(["likeness", "distance"]),
)
def test_the_best_allowed_tools_are_found_ties_in_catalogue_order(
    likeness: list[float], within: set[int] | None, k: int, others: int, kind: str
) -> None:
    tools = TOOLS[: len(likeness)]
    by_name = {spec.name: score for spec, score in zip(tools, likeness, strict=True)}
    allowed = None if within is None else {f"crowd__tool_{number}" for number in within}
    found = over(Scored(by_name, kind, others), tools).search("x", k, allowed)
    ranked = sorted(by_name, key=lambda name: -by_name[name])
    wanted = [name for name in ranked if allowed is None or name in allowed][:k]
    assert [hit.name for hit in found] == wanted


def test_a_store_is_asked_for_more_only_while_that_may_change_the_answer() -> None:
    falling = {spec.name: 1 - number / 1000 for number, spec in enumerate(TOOLS)}
    store = Scored(falling)
    retriever = over(store)
    assert len(retriever.search("x", 5)) == 5
    assert [most for _, most in store.asked] == [20]
    store.asked.clear()
    assert len(retriever.search("x", 12)) == 12
    assert [most for _, most in store.asked] == [80]
    store.asked.clear()
    assert [hit.name for hit in retriever.search("x", 1, {TOOLS[399].name})] == [TOOLS[399].name]
    assert [most for _, most in store.asked] == [20, 80, 320, 1_280]
    store.asked.clear()
    assert len(retriever.search("x", 10**6)) == len(TOOLS)
    assert [most for _, most in store.asked] == [FETCHES[-1]]


def test_a_store_without_scores_is_taken_by_its_order() -> None:
    store = Scored({TOOLS[2].name: 1.0, TOOLS[7].name: 0.5}, "none")
    hits = over(store, TOOLS[:10]).search("x", 2)
    assert [(hit.name, hit.score) for hit in hits] == [(TOOLS[2].name, 1), (TOOLS[7].name, 0.5)]


def test_scores_that_only_a_processor_tells_apart_are_ties() -> None:
    store = Scored({TOOLS[2].name: 0.5, TOOLS[7].name: 0.5 + 1e-9, TOOLS[8].name: 0.6})
    found = [hit.name for hit in over(store).search("x", 3)]
    assert found == [TOOLS[8].name, TOOLS[2].name, TOOLS[7].name]


def test_what_is_not_enough_is_not_found() -> None:
    store = Scored({TOOLS[2].name: 0.9, TOOLS[7].name: 0.1})
    retriever = StoreRetriever(store, lambda likeness: likeness > 0.5)
    retriever.index(TOOLS)
    assert [hit.name for hit in retriever.search("x", 5)] == [TOOLS[2].name]


def test_a_long_query_is_cut_and_an_empty_one_is_not_asked() -> None:
    store = Scored({})
    retriever = over(store)
    assert retriever.search(" \n", 5) == []
    assert store.asked == []
    retriever.search("x" * 10 * QUERY_LENGTH, 5)
    assert {len(query) for query, _ in store.asked} == {QUERY_LENGTH}


def test_retrievers_share_a_store_that_is_given_each_tool_once_and_few_at_a_time() -> None:
    store = Scored({})
    shared = SharedStore(store)
    for tools in (TOOLS[:300], TOOLS[:300], TOOLS):
        StoreRetriever(shared).index(tools)
    assert store.given == [BATCH, 300 - BATCH, 100]


def test_what_was_added_before_a_failure_is_not_added_again() -> None:
    class Failing(Scored):
        def add(self, documents: Sequence[ToolDocument]) -> None:
            if len(self.given) == 1:
                self.given.append(0)
                raise ConnectionError
            super().add(documents)

    store = Failing({})
    shared = SharedStore(store)
    with pytest.raises(ConnectionError):
        StoreRetriever(shared).index(TOOLS)
    StoreRetriever(shared).index(TOOLS)
    assert store.given == [BATCH, 0, 400 - BATCH]


def test_an_id_is_the_same_in_every_version_or_stores_fill_with_what_they_hold() -> None:
    spec = ToolSpec(source="mail", tool="send", description="Send a letter")
    document = ToolDocument.of(spec)
    assert document.text == "send (mail)\nSend a letter"
    assert document.id == "8b9ff0fc-5b72-50da-ab32-0a816bb799b8"
    assert document.metadata == {"deferred_tools_id": document.id, "tool": "mail__send"}
    changed = ToolSpec(source="mail", tool="send", description="Post")
    assert ToolDocument.of(changed).id != document.id


def test_documents_that_name_tools_rank_them_each_once() -> None:
    metadata = [{"tool": TOOLS[3].name}, {}, {"tool": "none"}, {"tool": TOOLS[3].id}]
    retriever = NamingRetriever(lambda query: [*metadata, {"tool": TOOLS[1].name}], "tool")
    assert retriever.search("x", 5) == []
    retriever.index(TOOLS)
    hits = retriever.search("x", 5)
    assert [(hit.name, hit.score) for hit in hits] == [(TOOLS[3].name, 1), (TOOLS[1].name, 0.5)]
    assert [hit.name for hit in retriever.search("x", 5, {TOOLS[1].name})] == [TOOLS[1].name]
    assert retriever.search(" ", 5) == []
