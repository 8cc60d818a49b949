"""Documents one after the other in numpy arrays: what a segment is made of."""

from array import array
from collections.abc import Iterable, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from deferred_tools.retrievers.postings import check_document

Ints: TypeAlias = npt.NDArray[np.int32]
Longs: TypeAlias = npt.NDArray[np.int64]
Weights: TypeAlias = npt.NDArray[np.uint16]
Some: TypeAlias = npt.NDArray[np.integer]
"""Integers of any size."""


class Terms(dict[str, int]):
    """Terms by number; a new one gets the next."""

    def __missing__(self, term: str) -> int:
        self[term] = number = len(self)
        return number


class Forward(NamedTuple):
    """What each document holds."""

    numbers: Ints
    starts: Longs
    """Where each document begins in the following arrays, and where the last one ends."""
    terms: Some
    weights: Weights

    @classmethod
    def read(cls, documents: Iterable[tuple[int, Mapping[str, int]]], terms: Terms) -> "Forward":
        """`documents` as they come.

        Raises:
            ValueError: As of `Postings.add`.
        """
        numbers, ends, held, weighed = array("i"), array("q", [0]), array("i"), array("H")
        for number, weights in documents:
            check_document(number, weights)
            numbers.append(number)
            held.extend(map(terms.__getitem__, weights))
            weighed.extend(weights.values())
            ends.append(len(held))
        return cls(
            np.array(numbers, np.int32),
            np.array(ends, np.int64),
            np.array(held, np.int32),
            np.array(weighed, np.uint16),
        )

    def joined(self, other: "Forward") -> "Forward":
        """These documents, then the `other` ones."""
        return Forward(
            np.concatenate((self.numbers, other.numbers)),
            np.concatenate((self.starts, other.starts[1:] + self.starts[-1])),
            np.concatenate((self.terms, other.terms)),
            np.concatenate((self.weights, other.weights)),
        )

    def in_order(self) -> "Forward":
        """By rising numbers; of one number the last stands."""
        if bool((np.diff(self.numbers) > 0).all()):
            return self
        _, back = np.unique(self.numbers[::-1], return_index=True)
        return self.take(len(self.numbers) - 1 - back)

    def take(self, rows: Some) -> "Forward":
        """The documents at `rows`."""
        at, starts = self.places(rows)
        return Forward(self.numbers[rows], starts, self.terms[at], self.weights[at])

    def places(self, rows: Some) -> tuple[Longs, Longs]:
        """Where the documents at `rows` have what they hold, and where each begins in that."""
        first = self.starts[rows]
        lengths = self.starts[rows + 1] - first
        starts = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(lengths, out=starts[1:])
        return np.arange(starts[-1]) + np.repeat(first - starts[:-1], lengths), starts
