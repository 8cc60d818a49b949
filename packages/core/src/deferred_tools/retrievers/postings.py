"""The seam below the ranker: which documents hold a term, how heavily, and the best of them.

Knows numbers and weights, nothing of tools or words. Everything is a whole number, so a score
is the same whatever the engine, the order in which documents came and the order of adding up.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

MOST_NUMBER = 2**31 - 1
"""The greatest number that a document may have."""
MOST_WEIGHT = 2**14 - 1
"""The greatest weight of a term in a document."""
MOST_ASKED = 2**16
"""The greatest sum of the weights of the terms of a query.

A score is at most `MOST_ASKED * MOST_WEIGHT`, below 2**30: 32 bits hold every sum on the way,
and Python calculates fastest.
"""


@dataclass(frozen=True, eq=False)
class Filter:
    """The documents that may be found, now and later.

    What an engine works out for a filter it keeps, so use one for many queries.
    """

    numbers: frozenset[int]


class Postings(Protocol):
    """Documents by number, each a mapping of terms to weights; exact top-k of weighted terms.

    Any thread may call anything. Each call sees the documents as they are before or after every
    change, never half of one; whoever asks several questions of one state holds `lock` meanwhile.
    """

    @property
    def lock(self) -> AbstractContextManager[object]:
        """Keeps all changes, and other threads, out while it is held; may be nested."""
        ...

    def __len__(self) -> int:
        """How many documents there are."""
        ...

    def __contains__(self, term: object) -> bool:
        """Whether a document holds `term`."""
        ...

    def holders(self, term: str) -> int:
        """How many documents hold `term`."""
        ...

    def add(self, number: int, weights: Mapping[str, int]) -> None:
        """Add a document, in place of the one of that number if there is one.

        Raises:
            ValueError: The number is not between 0 and `MOST_NUMBER`, or a weight not between
                1 and `MOST_WEIGHT`. Nothing was changed.
        """
        ...

    def add_many(self, documents: Iterable[tuple[int, Mapping[str, int]]]) -> None:
        """Add many documents faster than one by one; of one number the last stands.

        Raises:
            ValueError: As of `add`. Some of the documents before the bad one may have been added.
        """
        ...

    def remove(self, number: int) -> None:
        """Remove a document.

        Raises:
            KeyError: There is none of that number.
        """
        ...

    def best(
        self, terms: Mapping[str, int], k: int, within: Filter | None = None
    ) -> list[tuple[int, int]]:
        """The best `k` documents, as (number, score): falling scores, then rising numbers.

        The score of a document is the sum over `terms` of the weight asked times the weight
        held; documents without a score are left out.

        Raises:
            ValueError: A weight is not positive, or their sum is above `MOST_ASKED`.
        """
        ...

    def scores(
        self, queries: Sequence[Mapping[str, int]], numbers: Sequence[int]
    ) -> list[list[int]]:
        """For each of `queries`, the score of each of `numbers`; 0 for an unknown number.

        Made for many queries over a few hundred documents. With queries of one term and weight 1
        it gives the weights held.

        Raises:
            ValueError: As of `best`.
        """
        ...


def check_document(number: int, weights: Mapping[str, int]) -> None:
    """Raise ValueError unless `weights` can be those of document `number`."""
    if not 0 <= number <= MOST_NUMBER:
        raise ValueError(f"A document's number is between 0 and {MOST_NUMBER}, not {number!r}.")
    held = weights.values()
    if held and not (min(held) > 0 and max(held) <= MOST_WEIGHT):
        raise ValueError(
            f"Document {number}: a weight is between 1 and {MOST_WEIGHT}, "
            f"not {next(one for one in held if not 0 < one <= MOST_WEIGHT)!r}."
        )


def check_query(terms: Mapping[str, int]) -> None:
    """Raise ValueError unless `terms` can be asked for."""
    asked = terms.values()
    if asked and (min(asked) <= 0 or sum(asked) > MOST_ASKED):
        raise ValueError(
            f"The weights of a query are positive and at most {MOST_ASKED} together, "
            f"not {min(asked)!r} at least and {sum(asked)!r} together."
        )
