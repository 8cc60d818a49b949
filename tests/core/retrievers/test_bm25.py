"""The default retriever: exact names first, evidence only, the right tool for a request."""

import os
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools import ToolSpec
from deferred_tools.retrievers.bm25 import BM25Retriever

RETRIEVER = BM25Retriever()


def spec(name: str, description: str = "", *aliases: str) -> ToolSpec:
    source, _, tool = name.rpartition("__")
    return ToolSpec(source=source or "s", tool=tool, description=description, aliases=aliases)


def ranked(
    specs: list[ToolSpec], query: str, k: int = 10, within: list[str] | None = None
) -> list[str]:
    RETRIEVER.index(specs)
    return [hit.name for hit in RETRIEVER.search(query, k, within)]


OFFICE = [
    spec("mail__send", "Send a message to a list of people, with files", "e-post"),
    spec("mail__search", "Find messages in a mailbox"),
    spec("calendar__create_event", "Add an event to a calendar"),
    spec("calendar__list_events", "List the events of a day"),
    spec("files__read_file", "Read a file"),
    spec("files__searchText", "Find text in all files of a folder"),
    spec("github__create_issue", "Open a new issue in a repository"),
    spec("github__list_pull_requests", "List the pull requests of a repository"),
    spec("weather__get_forecast", "The weather of the next days for a city"),
]


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("github__create_issue", "github__create_issue"),
        ("create_issue", "github__create_issue"),
        ("createIssue", "github__create_issue"),
        ("create issue", "github__create_issue"),
        ("CREATE-ISSUE", "github__create_issue"),
        ("use create_issue to tell them about the weather forecast", "github__create_issue"),
        ("call `github__create_issue`, then list events of the calendar", "github__create_issue"),
        ("searchtext", "files__searchText"),
        ("search", "mail__search"),
        ("e-post", "mail__send"),
    ],
)
def test_a_tool_that_is_named_comes_first(query: str, name: str) -> None:
    assert ranked(OFFICE, query)[0] == name


def test_a_name_as_it_is_written_comes_before_the_same_name_respelt() -> None:
    tools = [spec("get_user"), spec("getUser"), spec("get-user")]
    for tool in tools:
        assert ranked(tools, tool.tool)[0] == tool.name
        assert ranked(tools, f"please call {tool.tool} for Bob")[0] == tool.name
    assert ranked(tools, "get user") == [tool.name for tool in tools]


def test_a_name_that_is_an_everyday_word_means_the_tool_only_by_itself() -> None:
    tools = [
        spec("web__search", "Look things up"),
        spec("shop__find_order", "Search the orders of a customer"),
    ]
    assert ranked(tools, "search")[0] == "web__search"
    assert ranked(tools, "search the orders of a customer")[0] == "shop__find_order"


def test_two_named_tools_come_before_all_others() -> None:
    found = ranked(OFFICE, "read_file, then searchText, then look for files in a folder")
    assert set(found[:2]) == {"files__read_file", "files__searchText"}


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("post a mail", "mail__send"),
        ("schedule a meeting", "calendar__create_event"),
        ("what's the wether tomorrow?", "weather__get_forecast"),
        ("PRs of the repo", "github__list_pull_requests"),
        ("report a bug in the repository", "github__create_issue"),
        ("reading files", "files__read_file"),
    ],
)
def test_a_request_in_other_words_finds_the_tool(query: str, name: str) -> None:
    assert ranked(OFFICE, query)[0] == name


def test_a_word_as_it_is_written_comes_before_others_of_the_same_stem() -> None:
    tools = [spec("list_organs"), spec("list_organizations"), spec("list_organ")]
    for tool in reversed(tools):
        assert ranked(tools, tool.tool.removeprefix("list_"))[0] == tool.name


def test_a_request_for_several_things_finds_a_tool_for_each() -> None:
    noise = [spec(f"notes__note_{n}", "Write a note about the forecast of sales") for n in range(9)]
    query = (
        "Get the weather forecast for Oslo, add an event to my calendar and send the team a mail"
    )
    found = ranked([*noise, *OFFICE], query, 5)
    assert {"weather__get_forecast", "calendar__create_event", "mail__send"} <= set(found)


def test_parameters_choices_and_aliases_are_searched() -> None:
    schema = {"properties": {"colour": {"description": "Hue", "enum": ["magenta"]}}}
    draw = ToolSpec(source="a", tool="draw", input_schema=schema, aliases=("sketch",))
    tools = [draw, spec("b__other", "Writes")]
    for query in ("colour", "hue", "magenta", "sketches"):
        assert ranked(tools, query) == ["a__draw"]


def test_the_server_of_a_good_tool_lifts_its_others() -> None:
    tools = [
        spec("one__list_items", "List items"),
        spec("crm__list_items", "List items"),
        spec("crm__find_deal", "Find a deal by its customer"),
    ]
    found = ranked(tools, "find the deal of a customer and its items")
    assert found == ["crm__find_deal", "crm__list_items", "one__list_items"]


@pytest.mark.parametrize(
    "query",
    [
        *("", " ", "!!!", "zzqx vlorp", "what can you do for me?", "12345"),
        "zzqx vlorp blorf, and then fnord glibble snark",
    ],
)
def test_a_query_without_evidence_finds_nothing(query: str) -> None:
    assert ranked(OFFICE, query) == []


def test_a_tool_without_a_proper_name_is_not_named_by_nothing() -> None:
    tools = [spec("__", "Odd"), spec("--", "Odder"), ToolSpec(source="s", tool="")]
    for query in ("", "!", ". . .", "- -"):
        assert ranked(tools, query) == []
    assert ranked(tools, "--") == ["s__--"]


def test_a_tool_with_next_to_no_evidence_is_no_hit() -> None:
    tools = [spec("pay__refund_payment", "Refund a payment in the system")]
    tools += [spec(f"x__t{n}", f"Keeps thing {n} in the system") for n in range(20)]
    assert ranked(tools, "refund the payment in the system") == ["pay__refund_payment"]


def test_a_query_of_two_hundred_words_and_one_of_a_megabyte_are_answered_in_time() -> None:
    request = "please look at the weather forecast for the city where our next event is "
    started = time.process_time()
    assert ranked(OFFICE, request * 15)[0] == "weather__get_forecast"
    assert ranked(OFFICE, "weather " + "xyzzy, " * 10**5) == ["weather__get_forecast"]
    assert time.process_time() - started < 2


def test_only_what_is_within_lifts_and_is_found() -> None:
    within = ["mail__search", "files__searchText", "gone__tool"]
    assert set(ranked(OFFICE, "find text or messages", 1, within)) <= set(within)
    assert ranked(OFFICE, "create_issue", 5, within) == []
    every = [tool.name for tool in OFFICE]
    assert ranked(OFFICE, "list events", 5, every) == ranked(OFFICE, "list events", 5)


def test_a_common_word_finds_what_no_rarer_word_does() -> None:
    tools = [spec(f"s{n}__t{n}", "manages records") for n in range(300)]
    assert ranked(tools, "records", 3) == ["s0__t0", "s1__t1", "s2__t2"]
    assert ranked(tools, "t7 records", 1) == ["s7__t7"]


@given(st.text(), st.lists(st.sampled_from([tool.name for tool in OFFICE])))
def test_any_query_is_answered_from_within(query: str, within: list[str]) -> None:
    found = ranked(OFFICE[:4], query, 3, within)
    assert len(found) == len(set(found)) <= 3
    assert set(found) <= set(within)


@given(st.text(), st.text(), st.text())
def test_any_text_of_a_server_can_be_indexed(tool: str, description: str, query: str) -> None:
    one = ToolSpec(source="s", tool=tool, description=description, aliases=(query,))
    assert len(ranked([one], query)) <= 1
    assert ranked([one], one.name) == [one.name]


def test_every_process_ranks_alike() -> None:
    code = (
        "from deferred_tools import ToolSpec\n"
        "from deferred_tools.retrievers.bm25 import BM25Retriever\n"
        "r = BM25Retriever()\n"
        "r.index([ToolSpec(source=f's{n % 7}', tool=f'GetThing{n}', "
        "description='Web-Page tools for PDFs and e-mail') for n in range(40)])\n"
        "print(r.search('mial web page, webpage and tools for pdf pages in email', 9))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(outputs) == 1
    assert "Hit" in outputs.pop()
