"""Each word of the query, in names and descriptions."""

from deferred_tools.retrievers.keyword import KeywordRetriever
from tests.core.retrievers.few_tools import found


def test_a_keyword_counts_two_in_the_name_and_one_in_the_description() -> None:
    assert found(KeywordRetriever(), "create issue") == [
        ("github__create_issue", 5),
        ("jira__create_ticket", 4),
        ("github__list_issues", 3),
        ("github__issue", 2),
    ]


def test_a_keyword_said_twice_counts_once() -> None:
    assert found(KeywordRetriever(), "sql SQL") == found(KeywordRetriever(), "sql")
