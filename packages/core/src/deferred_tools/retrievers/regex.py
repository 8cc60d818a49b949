"""A regular expression over names and descriptions; what is none, or is unsafe, is plain text."""

from collections.abc import Callable, Collection, Sequence

from deferred_tools.retrievers.base import Hit
from deferred_tools.retrievers.pattern import UnsafeError, compile_safe
from deferred_tools.retrievers.substring import DESCRIPTION, NAME, inside
from deferred_tools.retrievers.texts import Text, Texts, plain
from deferred_tools.spec import ToolSpec

TEXT_LENGTH = 400
"""Characters of a name and of a description that a pattern is tried on."""


class RegexRetriever:
    """Finds tools whose name, else whose description, holds a match of the query."""

    def __init__(self) -> None:
        self._texts = Texts.of(())

    def index(self, specs: Sequence[ToolSpec]) -> None:
        """Take `specs` in place of whatever was indexed before."""
        self._texts = Texts.of(specs)

    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        """The best `k` tools for `query`, best first; of those named `within`, if given."""
        score = _matcher(query.strip())
        return self._texts.best(score, k, within) if score else []


def _matcher(query: str) -> Callable[[Text], float] | None:
    """What scores a tool for `query`; None for a query that every text matches."""
    try:
        pattern = compile_safe(query)
    except UnsafeError:
        wanted = plain(query)
        return lambda tool: inside(wanted, tool)
    if pattern.search(""):
        return None

    def score(tool: Text) -> float:
        if pattern.search(tool.names[:TEXT_LENGTH]):
            return NAME
        return DESCRIPTION if pattern.search(tool.description[:TEXT_LENGTH]) else 0.0

    return score
