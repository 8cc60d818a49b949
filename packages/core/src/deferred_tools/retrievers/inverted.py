"""The inverted index of a catalogue: which tools hold a word, and how much that says.

Built once, then only read. Tools are numbered in catalogue order.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from deferred_tools.retrievers.fields import NAME, Fields
from deferred_tools.retrievers.text import Analyser
from deferred_tools.spec import ToolSpec

WEIGHTS = {
    NAME: (2.5, 0.4),
    "source": (2.0, 0.3),
    "description": (1.0, 0.75),
    "parameters": (0.6, 0.75),
    "details": (0.4, 0.75),
    "labels": (2.0, 0.4),
}
"""Weight of a word in each field, and how far a long field weakens it (BM25's b)."""
SATURATION = 1.2
"""How soon more of the same word says nothing new (BM25's k1)."""
RARITY_POWER = 1.15
"""Above 1, rare words count for more than BM25's idf gives them."""
NAME_COVERAGE = 0.4
"""What is gained by a tool whose whole name is in the query."""
SOURCE_BOOST = 0.4
"""Share of the best score of a source that its other tools gain."""
COMMON = 0.06
"""Share of all tools above which a word finds no tool: it only ranks what rarer words found."""
ENOUGH = 100
"""Tools that rarer words must have found before that."""

Postings = dict[str, dict[int, float]]


@dataclass(frozen=True, slots=True)
class Inverted:
    """Words to tools."""

    postings: Postings
    """Term to numbers of tools, each with the weight of the term in the tool."""
    rarity: dict[str, float]
    """What each term says, the more the fewer tools hold it."""
    shares: Postings
    """Stem to numbers of tools, each with the share of its name that the stem makes up."""
    joined: dict[str, tuple[str, ...]]
    """Two words written as one, which the catalogue never does, to their stems."""
    sources: tuple[int, ...]
    """Number of each tool's source."""

    @classmethod
    def of(cls, specs: Sequence[ToolSpec], analyser: Analyser) -> "Inverted":
        """Index `specs`."""
        fields = Fields.of(specs, analyser)
        postings = _postings(fields.tools)
        rarity = {term: _rarity(len(held), len(specs)) for term, held in postings.items()}
        numbers: dict[str, int] = {}
        sources = tuple(numbers.setdefault(spec.source, len(numbers)) for spec in specs)
        return cls(postings, rarity, _shares(fields.names, rarity), fields.joined, sources)

    def evidence(
        self, terms: Mapping[str, float], allowed: Collection[int] | None, floor: float
    ) -> dict[int, float]:
        """The score of every tool for which the weighted `terms` speak.

        Tools with less than `floor` of the best evidence are left out.
        """
        scores: dict[int, float] = {}
        for term in sorted(terms, key=lambda term: len(self.postings[term])):
            held = self.postings[term]
            common = len(scores) >= ENOUGH and len(held) > COMMON * len(self.sources)
            weight = terms[term] * self.rarity[term]
            _add(scores, held, weight, scores.keys() if common else allowed)
        covered: dict[int, float] = {}
        for term, weight in terms.items():
            _add(covered, self.shares.get(term, {}), min(weight, 1.0), scores.keys())
        for number, share in covered.items():
            scores[number] *= 1 + NAME_COVERAGE * share
        least = floor * max(scores.values(), default=0.0)
        speaking = {number: score for number, score in scores.items() if score >= least}
        return self._with_sources(speaking)

    def _with_sources(self, scores: dict[int, float]) -> dict[int, float]:
        """`scores`, each raised by the best of its source: tools of one task live together."""
        if not any(self.sources):  # one source would raise all alike
            return scores
        best: dict[int, float] = {}
        for number, score in scores.items():
            source = self.sources[number]
            if score > best.get(source, 0.0):
                best[source] = score
        return {
            number: score + SOURCE_BOOST * best[self.sources[number]]
            for number, score in scores.items()
        }


def _add(
    scores: dict[int, float],
    held: Mapping[int, float],
    weight: float,
    only: Collection[int] | None,
) -> None:
    """Add `weight` times what is held of each tool; at the cost of the fewer where `only` is."""
    get = scores.get
    if only is None:
        for number, value in held.items():
            scores[number] = get(number, 0.0) + weight * value
    else:
        for number in held.keys() & only:
            scores[number] = get(number, 0.0) + weight * held[number]


def _postings(tools: Sequence[Mapping[str, Sequence[str]]]) -> Postings:
    """The saturated, length-normalised weight of each term in each tool."""
    mean = {
        field: sum(len(terms[field]) for terms in tools)
        / (sum(1 for terms in tools if terms[field]) or 1)
        for field in WEIGHTS
    }
    postings: Postings = {}
    for number, terms in enumerate(tools):
        weights: dict[str, float] = {}
        for field, (weight, slope) in WEIGHTS.items():
            held = terms[field]
            if held:
                each = weight / (1 - slope + slope * len(held) / mean[field])
                for term in held:
                    weights[term] = weights.get(term, 0.0) + each
        for term, weight in weights.items():
            saturated = weight * (SATURATION + 1) / (SATURATION + weight)
            postings.setdefault(term, {})[number] = saturated
    return postings


def _rarity(held: int, total: int) -> float:
    """What a term says that `held` of `total` tools hold."""
    return float(math.log1p((total - held + 0.5) / (held + 0.5)) ** RARITY_POWER)


def _shares(names: Sequence[Sequence[str]], rarity: Mapping[str, float]) -> Postings:
    shares: Postings = {}
    for number, name in enumerate(names):
        mass = sum(rarity[term] for term in name)
        for term in name:
            shares.setdefault(term, {})[number] = rarity[term] / mass
    return shares
