"""The plain retrievers: substring, keyword and regex."""

import time

import pytest

from deferred_tools import ToolSpec
from deferred_tools.retrievers.base import Retriever
from deferred_tools.retrievers.keyword import KeywordRetriever
from deferred_tools.retrievers.pattern import UnsafeError, compile_safe
from deferred_tools.retrievers.regex import RegexRetriever
from deferred_tools.retrievers.substring import SubstringRetriever

SPECS = (
    ToolSpec(source="github", tool="create_issue", description="Open an issue (or a bug)"),
    ToolSpec(source="github", tool="list_issues", description="List\n   the issues"),
    ToolSpec(source="github", tool="issue", description="One of them"),
    ToolSpec(source="jira", tool="create_ticket", description="Create an issue in Jira"),
    ToolSpec(source="db", tool="query", description="Run SQL against a database"),
)


def found(retriever: Retriever, query: str, k: int = 9) -> list[tuple[str, float]]:
    retriever.index(SPECS)
    return [(hit.name, hit.score) for hit in retriever.search(query, k)]


def names(retriever: Retriever, query: str, k: int = 9) -> list[str]:
    return [name for name, _ in found(retriever, query, k)]


def test_a_substring_is_a_name_then_in_a_name_then_in_a_description() -> None:
    assert found(SubstringRetriever(), "ISSUE") == [
        ("github__issue", 3),
        ("github__create_issue", 2),
        ("github__list_issues", 2),
        ("jira__create_ticket", 1),
    ]


@pytest.mark.parametrize(
    "query", ["github__create_issue", "create_iss", "(or a BUG)", "an  issue ("]
)
def test_a_substring_is_taken_as_it_stands(query: str) -> None:
    assert names(SubstringRetriever(), query) == ["github__create_issue"]


def test_a_substring_of_several_lines_is_found() -> None:
    assert names(SubstringRetriever(), "list the issues") == ["github__list_issues"]


def test_a_keyword_counts_two_in_the_name_and_one_in_the_description() -> None:
    assert found(KeywordRetriever(), "create issue") == [
        ("github__create_issue", 5),
        ("jira__create_ticket", 4),
        ("github__list_issues", 3),
        ("github__issue", 2),
    ]


def test_a_keyword_said_twice_counts_once() -> None:
    assert found(KeywordRetriever(), "sql SQL") == found(KeywordRetriever(), "sql")


@pytest.mark.parametrize(
    ("pattern", "tools"),
    [
        ("create_(issue|ticket)", ["github__create_issue", "jira__create_ticket"]),
        ("^create", ["github__create_issue", "jira__create_ticket"]),
        ("database.*query|query.*DATABASE|sql", ["db__query"]),
        (r"(?i)\bJira\b", ["jira__create_ticket"]),
        (r"^jira__\w+_ticket$", ["jira__create_ticket"]),
        ("list.?issue[s-z]?$", ["github__list_issues"]),
        ("cr[a-e]*te", ["github__create_issue", "jira__create_ticket"]),
        ("is{2}ue(s)?$", ["github__create_issue", "github__list_issues", "github__issue"]),
    ],
)
def test_a_pattern_finds_names_before_descriptions(pattern: str, tools: list[str]) -> None:
    assert names(RegexRetriever(), pattern)[: len(tools)] == tools


@pytest.mark.parametrize("pattern", ["(or a bug)", "(OR A", "[bug", "issue (", "a bug)"])
def test_what_is_no_pattern_is_plain_text(pattern: str) -> None:
    tools = names(RegexRetriever(), pattern)
    assert tools == names(SubstringRetriever(), pattern) or tools[0] == "github__create_issue"


@pytest.mark.parametrize("pattern", [".*", "x*", "", "()", "a?", "|", "^", "$", r"\b|", "(a|)"])
def test_a_pattern_that_fits_every_text_finds_nothing(pattern: str) -> None:
    assert names(RegexRetriever(), pattern) == []


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+$",
        "(a|a)*b",
        "(a?){20}",
        "(?=a)b",
        "(?<!a)b",
        r"(a)\1",
        "(?P<x>a)",
        "[z-a]",
        "[[a]",
        "[a--b]",
        "a**",
        "a{3,1}",
        "a{99}",
        r"\w+\w+x",
        "^*",
        "a" * 201,
        "(a|b)" * 6,
        "(",
        ")",
        "a)",
        "*a",
        "\\",
        "[",
    ],
)
def test_a_pattern_without_a_bound_on_its_time_is_refused(pattern: str) -> None:
    with pytest.raises(UnsafeError):
        compile_safe(pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        (r"a\w+.*b", "axxb", True),
        ("a.*a.*b", "a b", False),
        ("a.*b$", "abb", True),
        ("a.+b", "ab", False),
        ("a.+b", "axb", True),
        ("(ab|a)c", "abc", True),
        ("(a|ab)c", "abc", True),
        ("x(a.*b|c)y", "xa__by", True),
        (r"\d{2,4}", "1", False),
        (r"\d{2,}", "123", True),
        (r"a\.b", "axb", False),
        ("^b", "a\nb", True),
        ("[^a]b", "ab", False),
        ("colou?r", "color", True),
    ],
)
def test_a_pattern_means_what_it_means_elsewhere(pattern: str, text: str, fits: bool) -> None:
    assert bool(compile_safe(pattern).search(text)) is fits


def test_the_worst_accepted_pattern_on_the_worst_texts_takes_bounded_time() -> None:
    retriever = RegexRetriever()
    retriever.index(
        [ToolSpec(source="s", tool=f"t{n}", description="a" * 10**5) for n in range(20)]
    )
    started = time.process_time()
    for pattern in (
        ".*a" * 60 + "b",
        "a{20}" * 15 + "b",
        "a*" + "a" * 150 + "b",
        "(a|aa)" * 4 + "b",
        "a?" * 5 + "a" * 60 + "b",
        "a*a.*" * 30 + "b",
        "(a+)+b",
    ):
        retriever.search(pattern, 5)
    assert time.process_time() - started < 5
