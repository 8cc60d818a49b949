"""Postings with numpy, for large catalogues: a segment of arrays, and what came since beside it."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from weakref import WeakKeyDictionary

import numpy as np

from deferred_tools.retrievers.forward import Forward, Terms
from deferred_tools.retrievers.postings import Filter, check_document, check_query
from deferred_tools.retrievers.python_postings import PythonPostings
from deferred_tools.retrievers.segment import Allowed, Segment

MANY = 8
"""Documents are many when they are more than one in so many of those that are there."""


class NumpyPostings:
    """See `Postings`. What was added one by one is slower to find until the next `merge`."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._live = PythonPostings()
        terms = Terms()
        self._segment = Segment(Forward.read((), terms), terms)
        self._allowed: WeakKeyDictionary[Filter, Allowed] = WeakKeyDictionary()

    def __len__(self) -> int:
        with self.lock:
            return len(self._segment) + len(self._live)

    def __contains__(self, term: object) -> bool:
        return isinstance(term, str) and self.holders(term) > 0

    def holders(self, term: str) -> int:
        """See `Postings`."""
        with self.lock:
            return self._segment.holders(term) + self._live.holders(term)

    def add(self, number: int, weights: Mapping[str, int]) -> None:
        """See `Postings`."""
        check_document(number, weights)
        with self.lock:
            row = self._segment.row(number)
            if row is not None:
                self._segment.remove(row)
            self._live.add(number, weights)

    def add_many(self, documents: Iterable[tuple[int, Mapping[str, int]]]) -> None:
        """See `Postings`. Many are merged with all that is there, a few are added one by one."""
        coming = iter(documents)
        most = len(self) // MANY
        few = list(islice(coming, most + 1))
        if len(few) > most:
            terms = Terms()
            self._merge(Forward.read(chain(few, coming), terms), terms)
        else:
            for number, weights in few:
                self.add(number, weights)

    def remove(self, number: int) -> None:
        """See `Postings`."""
        with self.lock:
            row = self._segment.row(number)
            if row is None:
                self._live.remove(number)
            else:
                self._segment.remove(row)

    def merge(self) -> None:
        """Make all documents equally fast to find. Takes as long as indexing them anew."""
        terms = Terms()
        self._merge(Forward.read((), terms), terms)

    def best(
        self, terms: Mapping[str, int], k: int, within: Filter | None = None
    ) -> list[tuple[int, int]]:
        """See `Postings`."""
        check_query(terms)
        if k <= 0:
            return []
        with self.lock:
            found = self._segment.best(terms, k, None if within is None else self._rows(within))
            if len(self._live):
                least = found[-1][1] if len(found) == k else 1
                numbers = None if within is None else within.numbers
                found += self._live.at_least(least, terms, k, numbers)
                found.sort(key=lambda pair: (-pair[1], pair[0]))
        return found[:k]

    def scores(
        self, queries: Sequence[Mapping[str, int]], numbers: Sequence[int]
    ) -> list[list[int]]:
        """See `Postings`."""
        for query in queries:
            check_query(query)
        with self.lock:
            found = self._segment.scores(queries, np.array(numbers, np.int64))
            if len(self._live):
                live = np.array(self._live.scores(queries, numbers), np.int64)
                found += live.reshape(found.shape)
        lines: list[list[int]] = found.tolist()
        return lines

    def _rows(self, within: Filter) -> Allowed:
        allowed = self._allowed.get(within)
        if allowed is None:
            numbers = np.fromiter(within.numbers, np.int64, len(within.numbers))
            allowed = self._allowed[within] = self._segment.allowed(np.sort(numbers))
        return allowed

    def _merge(self, fresh: Forward, written: Terms) -> None:
        """Put everything into one segment, with `fresh`, which is `written` in terms of its own."""
        with self.lock:
            terms = Terms(self._segment.terms)
            live = Forward.read(self._live.documents(), terms)
            known = np.fromiter(map(terms.__getitem__, written), np.int32, len(written))
            fresh = fresh._replace(terms=known[fresh.terms])
            every = self._segment.left().joined(live).joined(fresh).in_order()
            self._segment = Segment(every, terms)
            self._live = PythonPostings()
            self._allowed = WeakKeyDictionary()
