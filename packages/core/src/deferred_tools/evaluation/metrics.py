"""How good a ranking is, given the names that should be in it. Pure, each between 0 and 1.

`ranked` holds names, best first; a name that comes twice counts where it comes first.
`relevant` holds the names that answer the request, at least one.
"""

import math
import random
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import astuple, dataclass
from statistics import fmean

DEPTH = 10
"""Places of a ranking that count."""
_RESAMPLES = 1_000


def recall(ranked: Sequence[str], relevant: AbstractSet[str], k: int) -> float:
    """Share of `relevant` among the first `k`."""
    return len(_places(ranked, relevant, k)) / len(relevant)


def ndcg(ranked: Sequence[str], relevant: AbstractSet[str], k: int = DEPTH) -> float:
    """Discounted gain of the first `k` by that of the best ranking; every name gains 1."""
    best = sum(_gain(place) for place in range(min(len(relevant), k)))
    return sum(map(_gain, _places(ranked, relevant, k))) / best


def reciprocal_rank(ranked: Sequence[str], relevant: AbstractSet[str], k: int = DEPTH) -> float:
    """1 by the rank, from 1 on, of the first that is relevant; 0 if none of the first `k` is."""
    return next((1 / (place + 1) for place in _places(ranked, relevant, k)), 0.0)


def complete(ranked: Sequence[str], relevant: AbstractSet[str], k: int) -> float:
    """1 if all of `relevant` are among the first `k`, else 0."""
    return float(len(_places(ranked, relevant, k)) == len(relevant))


def hit(ranked: Sequence[str], relevant: AbstractSet[str], k: int = 1) -> float:
    """1 if any of the first `k` is relevant, else 0."""
    return float(bool(_places(ranked, relevant, k)))


@dataclass(frozen=True, slots=True)
class Scores:
    """Every metric of one ranking, or the mean of many."""

    ndcg_10: float
    recall_1: float
    recall_3: float
    recall_5: float
    recall_10: float
    mrr: float
    complete_5: float
    complete_10: float
    hit_1: float

    @classmethod
    def of(cls, ranked: Sequence[str], relevant: AbstractSet[str]) -> "Scores":
        """The scores of one ranking."""
        return cls(
            ndcg_10=ndcg(ranked, relevant),
            recall_1=recall(ranked, relevant, 1),
            recall_3=recall(ranked, relevant, 3),
            recall_5=recall(ranked, relevant, 5),
            recall_10=recall(ranked, relevant, 10),
            mrr=reciprocal_rank(ranked, relevant),
            complete_5=complete(ranked, relevant, 5),
            complete_10=complete(ranked, relevant, 10),
            hit_1=hit(ranked, relevant),
        )

    @classmethod
    def mean(cls, of: Sequence["Scores"]) -> "Scores":
        """The mean of at least one, each of which counts the same."""
        return cls(*(fmean(column) for column in zip(*map(astuple, of), strict=True)))


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Bounds of the mean of at least one value, at 95 %, by the bootstrap; always the same."""
    draw = random.Random(0)  # noqa: S311 - a sample to be repeated, not a secret
    count = len(values)
    means = sorted(sum(draw.choices(values, k=count)) / count for _ in range(_RESAMPLES))
    return means[round(0.025 * _RESAMPLES)], means[round(0.975 * _RESAMPLES) - 1]


def _places(ranked: Sequence[str], relevant: AbstractSet[str], k: int) -> list[int]:
    """Places, from 0 on, of what is relevant among the first `k` different names."""
    different = list(dict.fromkeys(ranked))[:k]
    return [place for place, name in enumerate(different) if name in relevant]


def _gain(place: int) -> float:
    return 1 / math.log2(place + 2)
