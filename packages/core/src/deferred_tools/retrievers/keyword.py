"""Placeholder until the retrievers land: per term, name 2 and description 1."""

from collections.abc import Collection, Sequence

from deferred_tools.retrievers.base import Hit
from deferred_tools.spec import ToolSpec


class KeywordRetriever:
    """Per term found: 2 for the name, 1 for the description."""

    def __init__(self) -> None:
        self._specs: tuple[ToolSpec, ...] = ()

    def index(self, specs: Sequence[ToolSpec]) -> None:
        """Take `specs`."""
        self._specs = tuple(specs)

    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        """The best `k`."""
        terms = query.lower().split()
        found = []
        for at, spec in enumerate(self._specs):
            if within is None or spec.name in within:
                name, text = spec.name.lower(), spec.description.lower()
                score = sum(2 * (t in name) + (t in text) for t in terms)
                if score:
                    found.append((-score, at, spec.name))
        return [Hit(name, -score) for score, _, name in sorted(found)[:k]]
