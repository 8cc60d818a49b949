"""The inverted index of a catalogue: which tools hold a word, and how much that says.

Built once, then only read. Tools are numbered in catalogue order.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from deferred_tools.retrievers.text import Analyser, SearchText
from deferred_tools.spec import ToolSpec

FIELDS = {
    "name": (2.5, 0.4),
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
_Terms = dict[str, list[str]]


def surface(word: str) -> str:
    """The term of a word as it stands in a name, apart from all stems."""
    return f"={word}"


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
        tools, compounds = _terms(specs, analyser)
        names = [tuple(dict.fromkeys(terms["name"])) for terms in tools]
        joined = _compounds(tools, compounds)
        _as_written(specs, tools, joined)
        postings = _postings(tools)
        rarity = {term: _rarity(len(held), len(specs)) for term, held in postings.items()}
        numbers: dict[str, int] = {}
        sources = tuple(numbers.setdefault(spec.source, len(numbers)) for spec in specs)
        return cls(postings, rarity, _shares(names, rarity), joined, sources)

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


def _terms(
    specs: Sequence[ToolSpec], analyser: Analyser
) -> tuple[list[_Terms], dict[str, tuple[str, ...]]]:
    """The stems in each field of each tool; and the words that are only written as two."""
    chunks = _Chunks(analyser)
    tools: list[_Terms] = []
    compounds: list[tuple[list[str], list[str]]] = []
    for spec in specs:
        text = SearchText.of(spec)
        terms: _Terms = {}
        for field in FIELDS:
            runs = analyser.runs(getattr(text, field))
            stems = terms[field] = list(chain.from_iterable(map(chunks.__getitem__, runs)))
            joined = [chunks.joined[run] for run in runs if run in chunks.joined]
            if joined:
                compounds.append((stems, joined))
        tools.append(terms)
    known = {stem for stems in chunks.values() for stem in stems}
    for held, joined in compounds:  # `GitHub` here, `github` there
        held += [word for word in joined if word in known]
    split = {word: chunks[run] for run, word in chunks.joined.items() if word not in known}
    for spec in specs:
        for left, right in pairwise(analyser.words(spec.tool)):
            if left + right not in known:
                split[left + right] = tuple(analyser.stems(f"{left} {right}"))
    return tools, split


class _Chunks(dict[str, tuple[str, ...]]):
    """The stems of every run seen, analysed once."""

    def __init__(self, analyser: Analyser) -> None:
        super().__init__()
        self._analyser = analyser
        self.joined: dict[str, str] = {}

    def __missing__(self, run: str) -> tuple[str, ...]:
        chunk = self._analyser.chunk(run)
        if chunk.joined:
            self.joined[run] = chunk.joined
        self[run] = chunk.stems
        return chunk.stems


def _postings(tools: Sequence[_Terms]) -> Postings:
    """The saturated, length-normalised weight of each term in each tool."""
    mean = {
        field: sum(len(terms[field]) for terms in tools)
        / (sum(1 for terms in tools if terms[field]) or 1)
        for field in FIELDS
    }
    postings: Postings = {}
    for number, terms in enumerate(tools):
        weights: dict[str, float] = {}
        for field, (weight, slope) in FIELDS.items():
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
