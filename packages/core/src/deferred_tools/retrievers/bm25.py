"""The default retriever: BM25 over the fields of a tool, sharpened for tools and requests.

Pure Python, offline, deterministic. Everything is computed by `index`; `search` only reads.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import pairwise

from deferred_tools.retrievers import synonyms
from deferred_tools.retrievers.base import Hit
from deferred_tools.retrievers.identifiers import Identifiers
from deferred_tools.retrievers.inverted import Inverted, surface
from deferred_tools.retrievers.spelling import Spelling
from deferred_tools.retrievers.text import STOP_WORDS, Analyser
from deferred_tools.spec import ToolSpec

QUERY_LENGTH = 4_000
"""Characters of a query that are read."""
GUESSES = 8
"""Unknown words of a query that are looked up by spelling."""
SPELLING_WEIGHT = 0.6
JOINED_WEIGHT = 0.5
SURFACE_WEIGHT = 0.15
REPEAT = 0.5
"""How soon saying a word again adds nothing."""
NAME_COVERAGE = 0.4
SOURCE_BOOST = 0.4
CLAUSE_WEIGHT = 0.5
CLAUSE_WORDS = 3
"""Words that say something in the shortest part of a request that is looked at by itself."""
CLAUSES = 16
COMMON = .06
FLOOR = 0.15
"""Share of the best score below which a tool is filler."""

_CLAUSE = re.compile(
    r"(?<=[.;!?])\s+|[。！？；]|\n+|[,，、]\s*(?:(?:and|then|also|or)\b)?\s*"
    r"|\s+(?:and then|then|and also|and|also|as well as|additionally|moreover|furthermore|plus)\s+",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Index:
    names: tuple[str, ...]
    numbers: dict[str, int]
    words: Inverted
    identifiers: Identifiers
    spelling: Spelling
    synonyms: synonyms.Synonyms


class BM25Retriever:
    """Ranks tools by the words that they share with a request; exact names come first."""

    def __init__(self) -> None:
        self._analyser = Analyser()
        self._index = self._build(())

    def index(self, specs: Sequence[ToolSpec]) -> None:
        self._index = self._build(specs)

    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        index = self._index
        query = query[:QUERY_LENGTH]
        allowed = None
        if within is not None:
            allowed = {index.numbers[name] for name in within if name in index.numbers}
            if len(allowed) == len(index.names):
                allowed = None
        scores = self._rank(index, query, allowed)
        best = nsmallest(max(k, 0), scores.items(), key=lambda pair: (-pair[1], pair[0]))
        return [Hit(index.names[number], score) for number, score in best]

    def _build(self, specs: Sequence[ToolSpec]) -> _Index:
        specs = tuple(specs)
        analyser = self._analyser
        words = Inverted.of(specs, analyser)
        def everyday(name: str) -> bool:
            parts = analyser.words(name)
            return len(parts) == 1 and (parts[0] in STOP_WORDS or len(words.postings.get(analyser.stem(parts[0]), ())) > 1)

        return _Index(
            names=tuple(spec.name for spec in specs),
            numbers={spec.name: number for number, spec in enumerate(specs)},
            words=words,
            identifiers=Identifiers.of(specs, everyday),
            spelling=Spelling(t for t in words.postings if t[0]!='='),
            synonyms=synonyms.read(analyser.stem),
        )

    def _rank(self, index, query, allowed):
        clauses = [c for c in _CLAUSE.split(query) if len(self._analyser.stems(c or '')) >= CLAUSE_WORDS][:CLAUSES]
        if len(clauses) < 2: clauses = []
        parts = [self._score(index, c, allowed) for c in clauses]
        scores = self._score(index, query, allowed)
        if parts and scores:
            top = max(scores.values())
            best = {}
            for part in parts:
                if part:
                    most = max(part.values())
                    factor = min(1.0, 2 * most / top) / most
                    for i, v in part.items():
                        if v * factor > best.get(i, 0): best[i] = v * factor
            scores = {i: v + CLAUSE_WEIGHT * top * best.get(i, 0) for i, v in scores.items()}
        named = index.identifiers.named(query)
        top = max(scores.values(), default=1.0)
        for number, how in named.items():
            if allowed is None or number in allowed:
                scores[number] = scores.get(number, 0.0) + (1 + how) * top
        return scores

    def _terms(self, index, query):
        analyser = self._analyser
        postings = index.words.postings
        chunks = analyser.chunks(query)
        words = [w for c in chunks for w in c.words]
        pairs = [c.joined for c in chunks if c.joined] + [a + b for a, b in pairwise(words)]
        counts = {}
        for w in words:
            if w not in STOP_WORDS:
                counts[w] = counts.get(w, 0) + 1
        stems = {}
        for w, n in counts.items():
            st = analyser.stem(w); stems[st] = stems.get(st, 0) + n
        terms = {}
        guesses = GUESSES
        for st, n in stems.items():
            weight = n * (1 + REPEAT) / (n + REPEAT)
            if st in postings:
                terms[st] = max(terms.get(st, 0), weight)
            elif st in index.words.joined:
                for x in index.words.joined[st]:
                    if x in postings:
                        terms[x] = max(terms.get(x, 0), weight * .7)
            elif guesses and not any(map(str.isdigit, st)):
                guesses -= 1
                for x, like in index.spelling.close(st):
                    terms[x] = max(terms.get(x, 0), weight * like * SPELLING_WEIGHT)
        seq = [analyser.stem(w) for w in words]
        for n in (1, 2, 3):
            for i in range(len(seq) - n + 1):
                for x, wt in index.synonyms.get(tuple(seq[i:i + n]), {}).items():
                    if x in postings and x not in stems:
                        terms[x] = max(terms.get(x, 0), wt)
        for pair in pairs:
            x = analyser.stem(pair)
            if x in postings and x not in terms:
                terms[x] = JOINED_WEIGHT
        for w in counts:
            x = surface(w)
            if x in postings:
                terms[x] = SURFACE_WEIGHT
        return terms

    def _score(self, index, query, allowed):
        terms = self._terms(index, query)
        words = index.words
        scores = {}
        enough = COMMON * len(index.names)
        cover = {}
        get = scores.get
        terms = sorted(((len(words.postings[t]), t) for t in terms), key=lambda z: z[0]), terms
        order, weights = terms
        for n, term in order:
            weight = weights[term]
            held = words.postings[term]
            if n > enough and len(scores) >= 100:
                if n > len(scores):
                    for i in scores:
                        if i in held: scores[i] += weight * held[i]
                else:
                    for i, v in held.items():
                        if i in scores: scores[i] += weight * v
            elif allowed is None:
                for i, v in held.items():
                    scores[i] = get(i, 0.0) + weight * v
            elif len(allowed) < n:
                for i in allowed:
                    if i in held: scores[i] = get(i, 0.0) + weight * held[i]
            else:
                for i, v in held.items():
                    if i in allowed: scores[i] = get(i, 0.0) + weight * v
        for term, weight in weights.items():
            held = words.shares.get(term)
            if not held: continue
            weight = min(weight, 1.0)
            if len(held) > len(scores):
                for i in scores:
                    if i in held: cover[i] = cover.get(i, 0.0) + weight * held[i]
            else:
                for i, v in held.items():
                    if i in scores: cover[i] = cover.get(i, 0.0) + weight * v
        for i, v in cover.items():
            scores[i] *= 1 + NAME_COVERAGE * v
        if not scores: return scores
        least = FLOOR * max(scores.values())
        scores = {i: v for i, v in scores.items() if v >= least}
        sources = words.sources
        m = {}
        for i, v in scores.items():
            j = sources[i]
            if v > m.get(j, 0): m[j] = v
        for i in scores: scores[i] += SOURCE_BOOST * m[sources[i]]
        return scores
