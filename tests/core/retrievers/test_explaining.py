"""The default retriever says how it came to a score."""

import pytest

from deferred_tools import ToolSpec
from deferred_tools.retrievers.bm25 import BM25Retriever
from deferred_tools.retrievers.explanation import Explains, Explanation

TOOLS = [
    ToolSpec(source="github", tool="create_issue", description="Open a new issue in a repository"),
    ToolSpec(source="github", tool="list_issues", description="List the issues of a repository"),
    ToolSpec(source="mail", tool="send", description="Send a message to people"),
]


@pytest.fixture
def retriever() -> BM25Retriever:
    retriever = BM25Retriever()
    retriever.index(TOOLS)
    return retriever


def test_the_parts_add_up_to_the_score_that_a_search_gives(retriever: BM25Retriever) -> None:
    assert isinstance(retriever, Explains)
    query = "open an issue in the repositry, then send a message to all people"
    hits = retriever.search(query, 5)
    explained = retriever.explain(query, [hit.name for hit in hits])
    assert [one.name for one in explained] == [hit.name for hit in hits]
    for hit, one in zip(hits, explained, strict=True):
        assert one.score == hit.score
        assert sum(value for _, value in one.parts) == pytest.approx(hit.score)


def test_terms_tell_what_was_said_and_where_it_is_held(retriever: BM25Retriever) -> None:
    (one,) = retriever.explain("open an issue in the repositry", ["github__create_issue"])
    terms = {term.term: term for term in one.terms}
    assert terms["issu"].said == "issue"
    assert terms["repositori"].said == "repositry"
    assert {"name", "lead"} <= set(terms["issu"].fields)
    weights = [term.weight for term in one.terms]
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] > 0


def test_a_named_tool_is_told_to_be_named(retriever: BM25Retriever) -> None:
    (one,) = retriever.explain("call create_issue", ["github__create_issue"])
    assert "named" in dict(one.parts)


def test_what_has_nothing_to_do_with_it_has_no_parts(retriever: BM25Retriever) -> None:
    nothing = [Explanation(name="none__such", score=0.0), Explanation(name="mail__send", score=0.0)]
    assert retriever.explain("repository", ["none__such", "mail__send"]) == nothing
    assert BM25Retriever().explain("repository", ["none__such"]) == nothing[:1]
