"""The query as it stands, in names and descriptions."""

import pytest

from deferred_tools.retrievers.substring import SubstringRetriever
from tests.core.retrievers.few_tools import found, names


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
