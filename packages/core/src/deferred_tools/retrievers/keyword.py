"""Every word of the query by itself, as a piece of a tool's name or description."""

from collections.abc import Collection, Sequence

from deferred_tools.retrievers.base import Hit
from deferred_tools.retrievers.texts import Text, Texts, plain
from deferred_tools.spec import ToolSpec

NAME, DESCRIPTION = 2.0, 1.0
"""What a word adds that is in the name, in the description; in both it adds both."""
TERMS = 200
"""Different words of a query that are looked for."""


class KeywordRetriever:
    """Scores names 2 and descriptions 1 for every word of the query that is inside."""

    def __init__(self) -> None:
        self._texts = Texts.of(())

    def index(self, specs: Sequence[ToolSpec]) -> None:
        """Take `specs` in place of whatever was indexed before."""
        self._texts = Texts.of(specs)

    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        """The best `k` tools for `query`, best first; of those named `within`, if given."""
        terms = tuple(dict.fromkeys(plain(query).split()))[:TERMS]

        def score(tool: Text) -> float:
            return sum(
                NAME * (term in tool.names) + DESCRIPTION * (term in tool.description)
                for term in terms
            )

        return self._texts.best(score, k, within) if terms else []
