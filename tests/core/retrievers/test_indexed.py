"""A catalogue that grows and shrinks finds what a fresh one of the same tools would find."""

import threading
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deferred_tools import ToolSpec
from deferred_tools.retrievers.base import Hit
from deferred_tools.retrievers.bm25 import BM25Retriever
from deferred_tools.retrievers.engine import Engine, numpy_engine, python_engine

VERBS = ("list", "create", "delete", "find")
THINGS = ("issue", "invoice", "pod", "GitHub repository", "calendar event", "file_system")
TOOLS = [
    ToolSpec(
        source=f"server{(verb + thing).count('e')}",
        tool=f"{verb}_{thing.replace(' ', '_')}",
        description=f"{verb.title()} one {thing} of a project",
    )
    for verb in VERBS
    for thing in THINGS
]
QUERIES = (
    "list the issues of a project",
    "filesystem",
    "github",
    "craete an invoice",
    "find pods, then delete the calendar event of the project",
    "delete_pod",
)


def python(_: int) -> Engine:
    return python_engine()


def numpy(_: int) -> Engine:
    return numpy_engine()


def fresh(tools: Sequence[ToolSpec]) -> BM25Retriever:
    retriever = BM25Retriever(engine=python)
    retriever.index(tools)
    return retriever


def answers(retriever: BM25Retriever) -> list[list[Hit]]:
    return [retriever.search(query, 30) for query in QUERIES]


@pytest.mark.parametrize("engine", [python, numpy])
@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, len(TOOLS) - 1)), max_size=40))
def test_adding_and_removing_ends_where_indexing_anew_does(
    engine: Callable[[int], Engine], steps: list[tuple[bool, int]]
) -> None:
    retriever = BM25Retriever(engine=engine)
    retriever.index(TOOLS[:8])
    there = {tool.name: tool for tool in TOOLS[:8]}
    for add, number in steps:
        tool = TOOLS[number]
        there.pop(tool.name, None)
        if add:
            retriever.add([tool])
            there[tool.name] = tool
        else:
            retriever.remove([tool.name])
    assert answers(retriever) == answers(fresh(list(there.values())))


def test_both_engines_give_the_same_scores_to_the_last_digit() -> None:
    arrays = BM25Retriever(engine=numpy)
    arrays.index(TOOLS)
    assert answers(arrays) == answers(fresh(TOOLS))


def test_a_score_does_not_depend_on_the_order_in_which_tools_came() -> None:
    backwards = fresh(TOOLS[::-1])
    for found, other in zip(answers(fresh(TOOLS)), answers(backwards), strict=True):
        assert {hit.name: hit.score for hit in found} == {hit.name: hit.score for hit in other}


def test_a_tool_of_the_same_name_replaces_the_old_one() -> None:
    retriever = fresh(TOOLS)
    new = ToolSpec(source=TOOLS[0].source, tool=TOOLS[0].tool, description="Brews coffee")
    retriever.add([new])
    assert [hit.name for hit in retriever.search("brew coffee", 5)] == [new.name]
    assert retriever.search("list one issue of a project", 30)[0].name == new.name


def test_the_first_tools_may_be_added() -> None:
    retriever = BM25Retriever()
    retriever.remove(["none"])
    retriever.add(TOOLS)
    assert answers(retriever) == answers(fresh(TOOLS))


def test_what_is_allowed_follows_the_tools_that_come_and_go() -> None:
    within = frozenset({"server3__delete_calendar_event", "new__delete_it"})
    retriever = fresh(TOOLS)
    query = "delete a calendar event"
    assert len(retriever.search(query, 5, within)) <= 1
    retriever.add([ToolSpec(source="new", tool="delete_it", description="Delete an event")])
    assert "new__delete_it" in {hit.name for hit in retriever.search(query, 5, within)}
    retriever.remove(["new__delete_it"])
    assert "new__delete_it" not in {hit.name for hit in retriever.search(query, 5, within)}


def test_readers_beside_a_writer_meet_a_whole_catalogue() -> None:
    retriever = fresh(TOOLS)
    extra = [ToolSpec(source="x", tool=f"list_issue_{n}", description="List") for n in range(5)]
    whole = [answers(retriever)]
    retriever.add(extra)
    whole.append(answers(retriever))
    done = threading.Event()
    odd: list[list[list[Hit]]] = []

    def read() -> None:
        while not done.is_set():
            for at, query in enumerate(QUERIES):
                hits = retriever.search(query, 30)
                if hits not in (whole[0][at], whole[1][at]):
                    odd.append([hits])
                    return

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    names = [tool.name for tool in extra]
    for _ in range(20):
        retriever.remove(names)
        retriever.add(extra)
    done.set()
    for reader in readers:
        reader.join()
    assert not odd


def test_a_common_word_finds_what_is_within_although_rarer_words_are_outside() -> None:
    many = [ToolSpec(source="x", tool=f"list_a{n}", description="List") for n in range(3_000)]
    rare = [ToolSpec(source="y", tool=f"pay_b{n}", description="Pay a bill") for n in range(100)]
    within = {many[7].name, many[9].name}
    found = fresh([*many, *rare]).search("list a bill to pay", 5, within)
    assert {hit.name for hit in found} == within
