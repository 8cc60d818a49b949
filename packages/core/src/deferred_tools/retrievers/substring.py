"""The plainest retriever: the query, as it stands, inside a tool's name, id or description."""

from collections.abc import Collection, Sequence

from deferred_tools.retrievers.base import Hit
from deferred_tools.retrievers.texts import Text, Texts, plain
from deferred_tools.spec import ToolSpec

EXACT, NAME, DESCRIPTION = 3.0, 2.0, 1.0
"""Score of a query that is a name, is inside a name, is inside a description."""


class SubstringRetriever:
    """Finds the query in names first, then in descriptions, whatever its case."""

    def __init__(self) -> None:
        self._texts = Texts.of(())

    def index(self, specs: Sequence[ToolSpec]) -> None:
        """Take `specs` in place of whatever was indexed before."""
        self._texts = Texts.of(specs)

    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        """The best `k` tools for `query`, best first; of those named `within`, if given."""
        wanted = plain(query)
        if not wanted:
            return []
        return self._texts.best(lambda tool: inside(wanted, tool), k, within)


def inside(wanted: str, tool: Text) -> float:
    """Where in `tool` the folded text `wanted` stands; 0 if nowhere."""
    if wanted in tool.names:
        return EXACT if wanted in tool.names.split("\n") else NAME
    return DESCRIPTION if wanted in tool.description else 0.0
