"""What postings are to do, in a few slow lines, and documents to do it with."""

import random
from collections.abc import Callable, Collection, Mapping

import pytest

from deferred_tools.retrievers.numpy_postings import NumpyPostings
from deferred_tools.retrievers.postings import Postings
from deferred_tools.retrievers.python_postings import PythonPostings

Documents = dict[int, dict[str, int]]
Make = Callable[[], Postings]
ENGINES: tuple[Make, ...] = (PythonPostings, NumpyPostings)
every_engine = pytest.mark.parametrize("make", ENGINES)


def score(weights: Mapping[str, int], terms: Mapping[str, int]) -> int:
    return sum(factor * weights.get(term, 0) for term, factor in terms.items())


def best(
    documents: Documents, terms: Mapping[str, int], k: int, within: Collection[int] | None = None
) -> list[tuple[int, int]]:
    """What `Postings.best` is to find."""
    scores = [
        (number, score(weights, terms))
        for number, weights in documents.items()
        if within is None or number in within
    ]
    spoken = [pair for pair in scores if pair[1]]
    return sorted(spoken, key=lambda pair: (-pair[1], pair[0]))[:k]


def filled(make: Make, documents: Mapping[int, Mapping[str, int]]) -> Postings:
    postings = make()
    postings.add_many(documents.items())
    return postings


def catalogue(count: int, most: int = 99, seed: int = 0) -> Documents:
    """Documents of terms of which some are common and most are rare, weighing at most `most`."""
    dice = random.Random(seed)  # noqa: S311  # nothing secret
    return {
        number: {a_term(dice): dice.randint(1, most) for _ in range(12)} for number in range(count)
    }


def a_term(dice: random.Random) -> str:
    """A term that a document may hold, more likely a common one."""
    return f"t{int(dice.paretovariate(0.5)) % 500}"
