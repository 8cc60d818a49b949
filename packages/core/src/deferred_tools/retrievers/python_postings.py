"""Postings in pure Python: a dictionary for each term.

A query takes its terms from the one that can say most to the one that can say least. How good
the best are at least is known soon, so that of the later and longer lists only those who could
still come among them are taken in, and at last nobody is: the few that are there by then are
looked up (this is known as MaxScore).
"""

import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from operator import itemgetter

from deferred_tools.retrievers.postings import Filter, check_document, check_query

SORTED = 16
"""Times `k` values, up to which sorting them all finds the `k`th soonest."""


class _Held(dict[int, int]):
    """The numbers of those who hold a term, with its weight in each."""

    __slots__ = ("most", "term")

    def __init__(self, term: str) -> None:
        super().__init__()
        self.term = term
        self.most = 0
        """No weight is greater; after a removal all may be smaller."""


_Asked = tuple[int, int, _Held]
"""The most that a term can say, its weight in the query, and who holds it."""


class PythonPostings:
    """See `Postings`."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._held: dict[str, _Held] = {}
        self._documents: dict[int, tuple[_Held, ...]] = {}
        self._weights: dict[int, int] = {}
        """Each weight to the one integer that stands for it everywhere, which saves memory."""

    def __len__(self) -> int:
        return len(self._documents)

    def __contains__(self, term: object) -> bool:
        return term in self._held

    def holders(self, term: str) -> int:
        """See `Postings`."""
        return len(self._held.get(term, ()))

    def add(self, number: int, weights: Mapping[str, int]) -> None:
        """See `Postings`."""
        check_document(number, weights)
        with self.lock:
            if number in self._documents:
                self.remove(number)
            lists, share = self._held, self._weights.setdefault
            document = []
            for term, weight in weights.items():
                held = lists.get(term)
                if held is None:
                    held = lists[term] = _Held(term)
                held[number] = share(weight, weight)
                held.most = max(held.most, weight)
                document.append(held)
            self._documents[number] = tuple(document)

    def add_many(self, documents: Iterable[tuple[int, Mapping[str, int]]]) -> None:
        """See `Postings`."""
        for number, weights in documents:
            self.add(number, weights)

    def remove(self, number: int) -> None:
        """See `Postings`."""
        with self.lock:
            for held in self._documents.pop(number):
                del held[number]
                if not held:
                    del self._held[held.term]

    def documents(self) -> Iterator[tuple[int, Mapping[str, int]]]:
        """All documents as they were added."""
        for number, document in self._documents.items():
            yield number, {held.term: held[number] for held in document}

    def best(
        self, terms: Mapping[str, int], k: int, within: Filter | None = None
    ) -> list[tuple[int, int]]:
        """See `Postings`."""
        check_query(terms)
        with self.lock:
            return self.at_least(1, terms, k, None if within is None else within.numbers)

    def scores(
        self, queries: Sequence[Mapping[str, int]], numbers: Sequence[int]
    ) -> list[list[int]]:
        """See `Postings`."""
        found = [[0] * len(numbers) for _ in queries]
        known: dict[str, list[tuple[int, int]]] = {}
        with self.lock:
            for query, line in zip(queries, found, strict=True):
                check_query(query)
                for term, factor in query.items():
                    if term not in known:
                        held: dict[int, int] = self._held.get(term) or {}
                        weights = map(held.get, numbers)
                        known[term] = [(at, one) for at, one in enumerate(weights) if one]
                    for at, weight in known[term]:
                        line[at] += factor * weight
        return found

    def at_least(
        self, least: int, terms: Mapping[str, int], k: int, allowed: Collection[int] | None
    ) -> list[tuple[int, int]]:
        """As `best`, of the documents with a score of at least `least`; the lock is held."""
        lists: list[_Asked] = []
        rest = left = 0
        for term, factor in terms.items():
            held = self._held.get(term)
            if held:
                most = factor * held.most
                lists.append((most, factor, held))
                rest += most
                left += len(held)
        if k <= 0:
            return []
        lists.sort(key=itemgetter(0), reverse=True)
        scores: dict[int, int] = {}
        for most, factor, held in lists:
            if rest < least:  # nobody new can come in
                low = least - rest
                scores = {number: score for number, score in scores.items() if score >= low}
                _look_up(scores, factor, held)
                rest -= most
                continue
            rest -= most
            left -= len(held)
            if least == 1 and allowed is None and most > rest and k <= len(held):
                least = max(least, factor * _kth(held.values(), k, 0))
            _take(scores, factor, held, -((rest - least) // factor), allowed)
            if k <= len(scores) < left and max(scores.values()) > rest:
                least = _kth(scores.values(), k, least)
        if len(scores) > k:
            least = _kth(scores.values(), k, least)
        best = sorted([number for number, score in scores.items() if score >= least])
        best.sort(key=scores.__getitem__, reverse=True)  # stable: equal ones stay in order
        return [(number, scores[number]) for number in best[:k]]


def _take(
    scores: dict[int, int], factor: int, held: _Held, low: int, allowed: Collection[int] | None
) -> None:
    """Add to `scores` what one term says; of new documents, where it weighs at least `low`."""
    pairs: Iterable[tuple[int, int]] = held.items()
    if allowed is not None:
        if len(allowed) < len(held):
            pairs = [(number, held[number]) for number in allowed if number in held]
        else:
            pairs = [pair for pair in pairs if pair[0] in allowed]
    if low > 1:
        new = {n: factor * weight for n, weight in pairs if weight >= low and n not in scores}
        _look_up(scores, factor, held)
        scores.update(new)
    else:
        get = scores.get
        for number, weight in pairs:
            scores[number] = get(number, 0) + factor * weight


def _look_up(scores: dict[int, int], factor: int, held: _Held) -> None:
    """Add to `scores` what one term says, at the cost of the fewer of both."""
    if len(scores) < len(held):
        get = held.get
        for number in scores:
            weight = get(number)
            if weight:
                scores[number] += factor * weight
    else:
        for number, weight in held.items():
            if number in scores:
                scores[number] += factor * weight


def _kth(values: Iterable[int], k: int, least: int) -> int:
    """The `k`th of `values` from the greatest, but at least `least`."""
    above = [value for value in values if value > least]
    if len(above) < k:
        return least
    return sorted(above)[-k] if len(above) < SORTED * k else nlargest(k, above)[-1]
