"""Why a retriever gave a tool its score: values, and the seam for retrievers that can tell.

A retriever need not explain. One that does says so by having the method of `Explains`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable


class Term(NamedTuple):
    """One term of a request that a tool has."""

    term: str
    """As it is indexed."""
    said: str
    """As the request said it; another word than `term` for a synonym or a slip of the pen."""
    fields: tuple[str, ...]
    """Names of the fields of the tool that hold it."""
    weight: float
    """What it adds to the score."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The score of one tool for one request, taken apart."""

    name: str
    score: float
    """As `search` gives it; 0 for a tool that has nothing to do with the request."""
    parts: tuple[tuple[str, float], ...] = ()
    """Label and value of each part of the score, such as `("exact name", 4.2)`; they add up."""
    terms: tuple[Term, ...] = ()
    """What the words of the whole request add, the heaviest first."""


@runtime_checkable
class Explains(Protocol):
    """A retriever that can say how it came to its scores."""

    def explain(self, query: str, names: Sequence[str]) -> list[Explanation]:
        """An explanation for each of `names`, in their order, as the index is now.

        A name that is not indexed has the score 0 and no parts.
        """
        ...
