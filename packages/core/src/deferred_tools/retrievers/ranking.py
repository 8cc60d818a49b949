"""The order of tools for a request: postings give candidates, which are then looked at closely."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from deferred_tools.retrievers.indexed import Indexed, IndexedTool
from deferred_tools.retrievers.lexicon import Asked
from deferred_tools.retrievers.meaning import Vector
from deferred_tools.retrievers.postings import Filter
from deferred_tools.retrievers.request import Phrase, Request

CANDIDATES = 64
"""Tools that hold the words of a request best: so many are looked at closely."""
NEAR = 32
"""Those of them, the best by words, whose meaning is looked at."""
PROPOSALS = 2_000
"""Tools that the words of a request may propose together, each of its words by itself."""
NAME_COVERAGE = 0.4
"""What is gained by a tool whose whole name is in the request."""
SOURCE_BOOST = 0.5
"""Share of the best score of a source that its tools gain: those of one task live together."""
FLOOR = 0.1
"""Share of the best evidence for a request below which a tool is filler."""
CLAUSE_FLOOR = 0.2
"""The same for one part of a request, which only lifts what stands out."""
CLAUSE = 0.5
"""What is gained by the best tool for one part of a request, as a share of the best score."""
MEANING = 1.0
"""What is gained by a tool that means what the request means, as a share of the best score."""
CLAUSE_MEANING = 0.15
"""The same for one part of a request: each of its parts means something else."""


class Evidence(NamedTuple):
    """What words alone say for a tool, as shares of the best score that the request gives."""

    words: float
    """At most 1."""
    named: float
    """More than 2 for a tool that is named outright, else 0."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Candidates and their scores, taken apart; each list has one value for each candidate."""

    numbers: list[int]
    words: list[float]
    clauses: list[float]
    meaning: list[float]
    named: list[float]

    def evidence(self) -> list["Evidence"]:
        """What words alone say for each candidate."""
        spoken = [one + other for one, other in zip(self.words, self.clauses, strict=True)]
        best = max(spoken, default=0.0) or 1.0
        return [
            Evidence(score / best, named / best)
            for score, named in zip(spoken, self.named, strict=True)
        ]

    def scores(self) -> list[float]:
        """The score of each candidate; 0 for one that has nothing to do with the request."""
        parts = zip(self.words, self.clauses, self.meaning, self.named, strict=True)
        return [sum(of_one) for of_one in parts]


def rank(
    index: Indexed, query: str, *, most: int, within: Filter | None, also: Iterable[int] = ()
) -> Ranking:
    """Rank the tools that have to do with `query`.

    Args:
        index: The tools; its lock is held.
        query: What is asked.
        most: How many tools are wanted.
        within: Those that may be found; None for all.
        also: Tools to rank with them, however little they have to do with it.
    """
    request = Request.of(query, index.analyser)
    whole, *parts = [index.lexicon.ask(phrase) for phrase in (request.whole, *request.clauses)]
    named = {
        number: how
        for number, how in index.identifiers.named(query).items()
        if within is None or number in within.numbers
    }
    # Words that only rank must propose, too, where those that propose may be outside.
    telling = _telling(index, whole) if within is None else whole.terms
    proposed = index.postings.best(telling, max(most, CANDIDATES), within)
    numbers = sorted({*also, *named, *(number for number, _ in proposed)})
    rows = index.postings.scores([asked.terms for asked in (whole, *parts)], numbers)
    candidates = _Candidates(
        [index.tools[number] for number in numbers],
        list(map(index.name_mass, numbers)),
        SOURCE_BOOST if index.sources() > 1 else 0.0,  # one source would raise all alike
    )
    words = candidates.evidence(whole, rows[0], FLOOR)
    clauses = [0.0] * len(numbers)
    for part, row in zip(parts, rows[1:], strict=True):
        evidence = candidates.evidence(part, row, CLAUSE_FLOOR)
        # A part that hardly finds anything says little of what it finds.
        strongest = max(evidence, default=0.0) or 1.0
        factor = CLAUSE * min(max(words, default=0.0) / strongest, 2.0)
        clauses = [max(gain, factor * e) for gain, e in zip(clauses, evidence, strict=True)]
    spoken = [one + other for one, other in zip(words, clauses, strict=True)]
    best = max(spoken, default=0.0) or 1.0
    share = best * (CLAUSE_MEANING if parts else MEANING)
    least = 0.0 if also else _least(spoken, most, share)
    near = {
        at: direction
        for at, (number, score) in enumerate(zip(numbers, spoken, strict=True))
        if ((score >= least and score) or number in named)
        and (direction := candidates.tools[at].direction)
    }
    likenesses = _likenesses(index, request.clauses or (request.whole,), list(near.values()))
    alike = dict(zip(near, likenesses, strict=True))
    return Ranking(
        numbers=numbers,
        words=words,
        clauses=clauses,
        meaning=[share * alike.get(at, 0.0) for at in range(len(numbers))],
        # Above whatever else there is; `how` is from 1 to 4.
        named=[(2 + named[n]) * best if n in named else 0.0 for n in numbers],
    )


def _least(spoken: Sequence[float], most: int, share: float) -> float:
    """The score by words from which on it matters what a tool means.

    No tool that is more than `share` below the last of those that are wanted can come among them,
    and hardly one that comes after `NEAR` others.
    """
    falling = sorted(spoken, reverse=True)
    if len(falling) <= most:
        return 0.0
    last = falling[min(max(most, NEAR), len(falling)) - 1]
    return max(0.0, falling[most - 1] - share, last)


def _telling(index: Indexed, asked: Asked) -> dict[str, int]:
    """The terms of a request that propose tools: the rarest, until they are held by enough.

    Words that many tools hold only rank what rarer ones propose, unless there are no others.
    """
    telling: dict[str, int] = {}
    held = 0
    for holders, term in sorted((index.postings.holders(term), term) for term in asked.terms):
        if held + holders > PROPOSALS and held >= CANDIDATES:
            break
        held += holders
        telling[term] = asked.terms[term]
    return telling


class _Candidates(NamedTuple):
    """The tools that are looked at closely."""

    tools: Sequence[IndexedTool]
    masses: Sequence[float]
    """What the words of each name tell together."""
    boost: float
    """Share of the best score of a source that its tools gain."""

    def evidence(self, asked: Asked, row: Sequence[int], floor: float) -> list[float]:
        """What the words of a piece of a request say for each tool, whose postings give `row`.

        Tools with less than `floor` of the best evidence have none.
        """
        said, unit, tools = asked.said, asked.unit, self.tools
        evidence = [0.0] * len(row)
        # Below this not even a name that is covered whole could lift a tool above the floor.
        least = floor * max(row, default=0) / (1 + NAME_COVERAGE)
        for at, score in enumerate(row):
            if score > least:
                covered = sum([said[stem] for stem in tools[at].name if stem in said])
                share = covered / self.masses[at] if covered else 0.0
                evidence[at] = unit * score * (1 + NAME_COVERAGE * share)
        lowest = floor * max(evidence, default=0.0)
        best: dict[str, float] = {}
        for at, value in enumerate(evidence):
            if value < lowest:
                evidence[at] = 0.0
            elif value > best.get(tools[at].spec.source, 0.0):
                best[tools[at].spec.source] = value
        for at, value in enumerate(evidence if self.boost else ()):
            if value:
                evidence[at] += self.boost * best[tools[at].spec.source]
        return evidence


def _likenesses(
    index: Indexed, phrases: Iterable[Phrase], directions: Sequence[Vector]
) -> list[float]:
    """How like the closest of `phrases` each direction is, from 0 to 1."""
    closest = [0.0] * len(directions)
    if index.meaning is None:
        return closest
    for phrase in phrases:
        asked = index.meaning.vector(index.lexicon.understood(phrase))
        if asked:
            found = zip(index.engine.products(asked, directions), directions, strict=True)
            likenesses = [product / (asked.length * one.length) for product, one in found]
            closest = list(map(max, closest, likenesses))
    return closest
