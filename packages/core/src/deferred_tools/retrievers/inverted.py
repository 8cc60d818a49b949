"""The inverted index of a catalogue: which tools hold a word, and how much that says.

Built once, then only read. Tools are numbered in catalogue order.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deferred_tools.retrievers.text import STOP_WORDS, Analyser, SearchText
from deferred_tools.spec import ToolSpec

FIELDS = {
    "name": (2.5, 0.4),
    "source": (2.0, 0.3),
    "description": (1.0, 0.75),
    "parameters": (0.6, 0.75),
    "details": (0.4, 0.75),
    "labels": (2.0, 0.4),
}
"""Weight of a word in each field, and how far a long field weakens it."""
SATURATION = 1.2
"""BM25's k1: how soon more of the same word says nothing new."""
RARITY_POWER = 1.15

Postings = dict[str, dict[int, float]]


def surface(word: str) -> str:
    """The term of a word as it stands in a name, apart from all stems."""
    return f"={word}"


@dataclass(frozen=True, slots=True)
class Inverted:
    """Words to tools."""

    postings: Postings
    """Term to numbers of tools, each with the evidence that the term gives for the tool."""
    shares: Postings
    """Term to numbers of tools, each with the share of its name that the term makes up."""
    sources: tuple[int, ...]
    """Number of each tool's source."""
    joined: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, specs: Sequence[ToolSpec], analyser: Analyser) -> "Inverted":
        """Index `specs`."""
        names: list[tuple[str, ...]] = []
        tools: list[dict[str, list[str]]] = []
        compounds: list[tuple[list[str],list[str]]] = []
        whole = {}
        solid = set()
        for spec in specs:
            text = SearchText.of(spec)
            terms = {}
            for field in FIELDS:
                chunks = analyser.chunks(getattr(text, field))
                terms[field] = held = [stem for chunk in chunks for stem in chunk.stems]
                js = [chunk for chunk in chunks if chunk.joined]
                if js: compounds.append((held, js))
            names.append(tuple(dict.fromkeys(terms["name"])))
            terms["name"] += [surface(word) for word in analyser.words(text.name) if word not in STOP_WORDS and analyser.stem(word)!=word]
            tools.append(terms)
        known = {t for terms in tools for held in terms.values() for t in held}
        joined = {}
        for held, js in compounds:
            for c in js:
                w = joined.get(c.joined)
                if w is None: 
                    w = joined[c.joined] = c.stems
                if c.joined in known: held.append(c.joined)
        joined = {k:v for k,v in joined.items() if k not in known and v}
        postings = _postings(tools)
        rarity = {term: _rarity(len(held), len(specs)) for term, held in postings.items()}
        for term, held in postings.items():
            weight = rarity[term]
            for number in held:
                held[number] *= weight
        numbers: dict[str, int] = {}
        sources = tuple(numbers.setdefault(spec.source, len(numbers)) for spec in specs)
        return cls(postings, _shares(names, rarity), sources, joined)


def _postings(tools: Sequence[Mapping[str, Sequence[str]]]) -> Postings:
    """Saturated, length-normalised weight of each term in each tool."""
    mean = {
        field: sum(len(tool[field]) for tool in tools)
        / (sum(1 for tool in tools if tool[field]) or 1)
        for field in FIELDS
    }
    postings: Postings = {}
    for number, tool in enumerate(tools):
        weights: dict[str, float] = {}
        for field, (weight, slope) in FIELDS.items():
            terms = tool[field]
            if terms:
                each = weight / (1 - slope + slope * len(terms) / mean[field])
                for term in terms:
                    weights[term] = weights.get(term, 0.0) + each
        for term, weight in weights.items():
            saturated = weight * (SATURATION + 1) / (SATURATION + weight)
            postings.setdefault(term, {})[number] = saturated
    return postings


def _rarity(held: int, total: int) -> float:
    """What a term of `held` of `total` tools says: BM25's idf, a little sharper."""
    return math.log1p((total - held + 0.5) / (held + 0.5)) ** RARITY_POWER


def _shares(names: Sequence[Sequence[str]], rarity: Mapping[str, float]) -> Postings:
    shares: Postings = {}
    for number, name in enumerate(names):
        mass = sum(rarity[term] for term in name) or 1.0
        for term in name:
            shares.setdefault(term, {})[number] = rarity[term] / mass
    return shares
