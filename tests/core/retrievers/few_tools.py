"""A few tools for the plain retrievers."""

from deferred_tools import ToolSpec
from deferred_tools.retrievers.base import Retriever

SPECS = (
    ToolSpec(source="github", tool="create_issue", description="Open an issue (or a bug)"),
    ToolSpec(source="github", tool="list_issues", description="List\n   the issues"),
    ToolSpec(source="github", tool="issue", description="One of them"),
    ToolSpec(source="jira", tool="create_ticket", description="Create an issue in Jira"),
    ToolSpec(source="db", tool="query", description="Run SQL against a database"),
)


def found(retriever: Retriever, query: str) -> list[tuple[str, float]]:
    """Names and scores of what `retriever` finds among them, best first."""
    retriever.index(SPECS)
    return [(hit.name, hit.score) for hit in retriever.search(query, len(SPECS))]


def names(retriever: Retriever, query: str) -> list[str]:
    """The names alone."""
    return [name for name, _ in found(retriever, query)]
