"""What a document says by its terms: fielded BM25 as whole numbers, for `Postings` to add up.

The reference length of a field is a constant, not a mean over the catalogue: what a tool says
depends on the tool alone, so replicas agree whatever came first, and nothing is computed anew
when tools come and go.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from deferred_tools.retrievers.postings import MOST_ASKED, MOST_WEIGHT


@dataclass(frozen=True, slots=True)
class Field:
    """How the terms of one field count."""

    weight: float
    """What one term says."""
    slope: float
    """How far a long field weakens it, between 0 and 1 (BM25's b)."""
    length: float
    """Terms in a field of common length."""


def impacts(fields: Iterable[tuple[Field, Sequence[str]]], saturation: float) -> dict[str, int]:
    """The weight of each term of a document, between 1 and `MOST_WEIGHT`.

    Args:
        fields: The terms of each field, repeated as they are.
        saturation: How soon more of the same says nothing new (BM25's k1). The weight of a term
            is v / (saturation + v) of `MOST_WEIGHT`, v being what all fields say together.
    """
    said: dict[str, float] = {}
    for field, terms in fields:
        if terms:
            each = field.weight / (1 - field.slope + field.slope * len(terms) / field.length)
            for term in terms:
                said[term] = said.get(term, 0.0) + each
    return {
        term: int(MOST_WEIGHT * value / (saturation + value)) or 1 for term, value in said.items()
    }


def asked(weights: Mapping[str, float]) -> tuple[dict[str, int], float]:
    """`weights` as a query, and what 1 of its scores is worth; none of them is negative.

    The greatest scale is taken at which no sum can overflow. Multiplied by the second value, a
    score is the sum of weight times v / (saturation + v), but for rounding.
    """
    total = sum(weights.values())
    if not total:
        return {}, 0.0
    scale = MOST_ASKED / total
    # Rounded down, so that the sum of many stays below the limit.
    terms = {term: int(weight * scale) for term, weight in weights.items()}
    if 0 in terms.values():
        terms = {term: weight for term, weight in terms.items() if weight}
    return terms, 1 / (scale * MOST_WEIGHT)
