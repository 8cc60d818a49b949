"""A segment: many documents in numpy arrays, none added later, some removed.

Rows are the documents in the order of their numbers. The inverted half holds for each term the
rows and their weights, the forward half for each row the terms and theirs. A removal writes zeros
over the weights, so that no query has to ask what is gone. Safe for threads under a lock only.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from deferred_tools.retrievers.forward import Forward, Ints, Longs, Some, Terms, Weights

FEW = 8
"""Reading a posting in passing costs an eighth of looking one up."""
MANY = 200
"""Fewer rows are sooner looked up, or sorted, than weeded out."""
_BITS = 31
_LOW = 2**_BITS - 1
Rows: TypeAlias = npt.NDArray[np.intp]
Asked = tuple[int, int, int, int]
"""Of one term: the most it can say, its weight in the query, its postings from and to."""


class Allowed:
    """Rows that may be found."""

    def __init__(self, rows: Ints, size: int) -> None:
        self.rows = rows
        self._size = size
        self._mask: npt.NDArray[np.bool_] | None = None

    def mask(self) -> npt.NDArray[np.bool_]:
        """For each row of the segment whether it may be found."""
        if self._mask is None:
            self._mask = np.zeros(self._size, np.bool_)
            self._mask[self.rows] = True
        return self._mask


class Segment:
    """Documents to search."""

    def __init__(self, forward: Forward, terms: Terms) -> None:
        """Take documents by rising numbers, and the terms that they are written in."""
        size = len(forward.numbers)
        self.terms = terms
        self.gone: set[int] = set()
        """Rows that were removed."""
        small = len(terms) <= np.iinfo(np.uint16).max
        self._forward = (
            forward._replace(terms=forward.terms.astype(np.uint16)) if small else forward
        )
        held = np.bincount(forward.terms, minlength=len(terms))
        starts = np.zeros(len(terms) + 1, np.int64)
        np.cumsum(held, out=starts[1:])
        most = np.zeros(len(terms), np.uint16)
        np.maximum.at(most, forward.terms, forward.weights)
        order = _stable(forward.terms)
        self._rows: Ints = np.repeat(np.arange(size, dtype=np.int32), np.diff(forward.starts))[
            order
        ]
        self._weights: Weights = forward.weights[order]
        # Single values are read through views: several times as fast, and Python's own integers.
        self._numbers = forward.numbers.data
        self._starts = starts.data
        self._most = most.data
        self._held = held.data
        self._row_view = self._rows.data
        self._weight_view = self._weights.data
        self._scratch: Ints | None = None

    def __len__(self) -> int:
        return len(self._numbers) - len(self.gone)

    def holders(self, term: str) -> int:
        """How many documents hold `term`."""
        number = self.terms.get(term)
        return 0 if number is None else self._held[number]

    def row(self, number: int) -> int | None:
        """Where the document of that number is, unless it is not or no more."""
        row = bisect_left(self._numbers, number)
        if row == len(self._numbers) or self._numbers[row] != number or row in self.gone:
            return None
        return row

    def remove(self, row: int) -> None:
        """Let go of the document at `row`, which is there."""
        forward = self._forward
        mine = slice(forward.starts[row], forward.starts[row + 1])
        starts, rows = self._starts, self._row_view
        for term in forward.terms[mine].tolist():
            self._weight_view[bisect_left(rows, row, starts[term], starts[term + 1])] = 0
            self._held[term] -= 1
        forward.weights[mine] = 0
        self.gone.add(row)

    def allowed(self, numbers: Longs) -> Allowed:
        """The rows of `numbers`, which rise."""
        rows, known = self._find(numbers)
        return Allowed(rows[known].astype(np.int32), len(self._numbers))

    def _find(self, numbers: Longs) -> tuple[Rows, npt.NDArray[np.bool_]]:
        """Where documents of `numbers` are or would be, and whether they are or were there."""
        mine = self._forward.numbers
        if not len(mine):
            return np.zeros(len(numbers), np.intp), np.zeros(len(numbers), np.bool_)
        rows = np.minimum(mine.searchsorted(numbers), len(mine) - 1)
        return rows, mine[rows] == numbers

    def left(self) -> Forward:
        """The documents that were not removed."""
        stay = np.ones(len(self._numbers), np.bool_)
        stay[list(self.gone)] = False
        return self._forward.take(stay.nonzero()[0])

    def best(
        self, terms: Mapping[str, int], k: int, allowed: Allowed | None
    ) -> list[tuple[int, int]]:
        """See `Postings`."""
        lists: list[Asked] = []
        for term, factor in terms.items():
            number = self.terms.get(term)
            if number is not None and self._held[number]:
                start, end = self._starts[number], self._starts[number + 1]
                lists.append((factor * self._most[number], factor, start, end))
        if not lists:
            return []
        lists.sort(key=itemgetter(0), reverse=True)
        postings = sum(end - start for _, _, start, end in lists)
        if allowed is not None and len(allowed.rows) * len(lists) * FEW < postings:
            rows, scores = allowed.rows, np.zeros(len(allowed.rows), np.int32)
        else:
            rows, scores, lists = self._accumulate(lists, k, allowed)
        rest = sum(map(itemgetter(0), lists))
        for asked in lists:
            rows, scores = _weeded(rows, scores, k, rest)
            self._look_up(rows, scores, asked)
            rest -= asked[0]
        rows, scores = _weeded(rows, scores, k, 0)
        order = np.lexsort((rows, -scores))[:k]
        found = zip(rows.take(order).tolist(), scores.take(order).tolist(), strict=True)
        return [(self._numbers[row], score) for row, score in found if score]

    def scores(self, queries: Sequence[Mapping[str, int]], numbers: Longs) -> Longs:
        """See `Postings`; a line for each query."""
        columns: dict[int, int] = {}
        asked: list[tuple[int, int, int]] = []
        for line, query in enumerate(queries):
            for term, weight in query.items():
                number = self.terms.get(term)
                if number is not None:
                    asked.append((line, columns.setdefault(number, len(columns) + 1), weight))
        rows, known = self._find(numbers)
        if not (asked and known.any()):
            return np.zeros((len(queries), len(numbers)), np.int64)
        places, starts = self._forward.places(rows)
        column_of = np.zeros(len(self.terms), np.int16)
        column_of[list(columns)] = list(columns.values())
        column = column_of.take(self._forward.terms.take(places))
        hits = column.nonzero()[0]
        # Floating point multiplies matrices fastest, and is exact up to 2**53.
        held = np.zeros((len(columns) + 1, len(numbers)))
        at = starts.searchsorted(hits, "right") - 1
        held[column.take(hits), at] = self._forward.weights.take(places.take(hits))
        factors = np.zeros((len(queries), len(columns) + 1))
        lines, columns_, weights = zip(*asked, strict=True)
        factors[lines, columns_] = weights
        found = (factors @ held).astype(np.int64)
        found[:, ~known] = 0
        return found

    def _accumulate(
        self, lists: list[Asked], k: int, allowed: Allowed | None
    ) -> tuple[Ints, Ints, list[Asked]]:
        """Rows among which are the best `k`, what the first of `lists` say of them, and the rest.

        The rest of the lists is longer than looking up the rows in it would take.
        """
        # Taken away while it is in use: if this is interrupted, the next query makes a new one.
        scratch, self._scratch = self._scratch, None
        if scratch is None:
            scratch = np.zeros(len(self._numbers), np.int32)
        rest = sum(map(itemgetter(0), lists))
        said_most = count = read = 0
        least = 1
        found: list[Rows] = []
        for most, factor, start, end in lists:
            if rest < least and count * FEW < end - start:
                break
            read += 1
            rest -= most
            said_most += most
            rows, said = self._rows[start:end], self._weights[start:end]
            if allowed is not None:
                keep = allowed.mask().take(rows).nonzero()[0]
                rows, said = rows.take(keep), said.take(keep)
            scores = said * np.int32(factor)
            before = scratch.take(rows) if found else None
            if before is not None:
                scores += before
            if said_most > rest and len(scores) > k:  # else it could not leave anything out
                least = max(least, _kth(scores, k))
            if least > rest:
                keep = (scores >= least - rest).nonzero()[0]
                rows, scores = rows.take(keep), scores.take(keep)
                before = None if before is None else before.take(keep)
            new = rows.astype(np.intp)
            scratch[new] = scores
            if before is not None:
                new = new[before == 0]
            found.append(new)
            count += len(new)
        every = np.concatenate(found)
        scores = scratch.take(every)
        scratch[every] = 0
        self._scratch = scratch
        return every.astype(np.int32), scores, lists[read:]

    def _look_up(self, rows: Ints, scores: Ints, asked: Asked) -> None:
        """Add to `scores` what one term says of `rows`."""
        _, factor, start, end = asked
        held = self._rows[start:end]
        places = held[:-1].searchsorted(rows)  # without the last, every place is one of `held`
        weights = self._weights[start:end].take(places) * (held.take(places) == rows)
        scores += weights * np.int32(factor)


def _weeded(rows: Ints, scores: Ints, k: int, rest: int) -> tuple[Ints, Ints]:
    """Those that may be among the best `k` when each is raised by at most `rest`."""
    if len(scores) <= max(k, MANY):
        return rows, scores
    keep = (scores >= _kth(scores, k) - rest).nonzero()[0]
    return rows.take(keep), scores.take(keep)


def _kth(scores: Ints, k: int) -> int:
    """The `k`th of more than `k` scores from the greatest."""
    at = len(scores) - k
    return int(np.partition(scores, at)[at])


def _stable(terms: Some) -> Rows:
    """The order that sorts `terms` and leaves equal ones as they are."""
    keys: Rows = terms.astype(np.int64)
    keys <<= _BITS
    keys |= np.arange(len(terms))
    keys.sort()
    keys &= _LOW
    return keys
