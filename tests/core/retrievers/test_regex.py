"""Patterns over names and descriptions; what is none is plain text."""

import time

import pytest

from deferred_tools import ToolSpec
from deferred_tools.retrievers.regex import RegexRetriever
from tests.core.retrievers.few_tools import names


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


@pytest.mark.parametrize("query", ["issue (or a BUG", "(or", "a bug)", "an issue (OR A"])
def test_what_is_no_pattern_is_plain_text(query: str) -> None:
    assert names(RegexRetriever(), query) == ["github__create_issue"]


@pytest.mark.parametrize("pattern", [".*", "x*", "", "()", "a?", "|", "^", "$", r"\b|", "(a|)"])
def test_a_pattern_that_fits_every_text_finds_nothing(pattern: str) -> None:
    assert names(RegexRetriever(), pattern) == []


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
