"""How tools are found: the seam. A retriever knows specs and words; never callers or sessions."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from deferred_tools.spec import ToolSpec


@dataclass(frozen=True, slots=True)
class Hit:
    """A tool that a search found; a greater score is a better match."""

    name: str
    score: float


@runtime_checkable
class Retriever(Protocol):
    """Ranks tools for a query. Any object with these two methods serves.

    Implementations are deterministic, break ties by the order that the specs were indexed
    in, and return nothing without evidence: fewer than `k` hits, or none, rather than filler.
    `search` may be called from several threads at once, and while `index` runs: then it
    answers from the old catalogue or from the new one, never from some of each.
    `deferred_tools.testing.retrievers.check_retriever` checks all this.
    """

    def index(self, specs: Sequence[ToolSpec]) -> None:
        """Take `specs`, in catalogue order, in place of whatever was indexed before."""
        ...

    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        """The best `k` tools for `query`, best first.

        `within` holds the names that may be found; it applies before the cut, so `k` means
        `k` allowed tools. None means all. An empty query finds nothing.
        """
        ...


@runtime_checkable
class Degrades(Protocol):
    """A retriever that may have to let a simpler one answer, and then says why."""

    @property
    def problem(self) -> str:
        """Why a simpler one answers at the moment; empty if none does."""
        ...
