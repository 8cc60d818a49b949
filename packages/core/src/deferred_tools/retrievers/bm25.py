"""The default retriever: BM25 over the fields of a tool, sharpened for tools and requests.

Pure Python, offline, deterministic. Everything is computed by `index`; `search` only reads.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest

from deferred_tools.retrievers import synonyms
from deferred_tools.retrievers.base import Hit
from deferred_tools.retrievers.fields import is_stem
from deferred_tools.retrievers.identifiers import Identifiers
from deferred_tools.retrievers.inverted import Inverted
from deferred_tools.retrievers.request import Vocabulary, clauses
from deferred_tools.retrievers.spelling import Spelling
from deferred_tools.retrievers.text import Analyser
from deferred_tools.spec import ToolSpec

QUERY_LENGTH = 4_000
"""Characters of a query that are read."""
FLOOR = 0.1
"""Share of the best evidence for a request below which a tool is filler."""
CLAUSE_FLOOR = 0.3
"""The same for one part of a request, which only lifts what stands out."""
CLAUSE = 0.5
"""What is gained by the best tool for one part of a request, as a share of the best score."""


@dataclass(frozen=True, slots=True)
class _Index:
    names: tuple[str, ...]
    numbers: Mapping[str, int]
    identifiers: Identifiers
    words: Inverted
    vocabulary: Vocabulary

    @classmethod
    def of(cls, specs: Sequence[ToolSpec], analyser: Analyser) -> "_Index":
        names = tuple(spec.name for spec in specs)
        words = Inverted.of(specs, analyser)
        return cls(
            names=names,
            numbers={name: number for number, name in enumerate(names)},
            identifiers=Identifiers.of(specs, analyser, words.postings),
            words=words,
            vocabulary=Vocabulary(
                analyser=analyser,
                words=words,
                spelling=Spelling(filter(is_stem, words.postings)),
                synonyms=synonyms.read(analyser.stem),
            ),
        )


class BM25Retriever:
    """Ranks tools by the words that they share with a request; exact names come first."""

    def __init__(self) -> None:
        self._analyser = Analyser()
        self._index: _Index | None = None

    def index(self, specs: Sequence[ToolSpec]) -> None:
        """Take `specs` in place of whatever was indexed before."""
        self._index = _Index.of(tuple(specs), self._analyser)

    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        """The best `k` tools for `query`, best first; of those named `within`, if given."""
        index = self._index
        if index is None:
            return []
        allowed = None if within is None else _numbers(index, within)
        scores = _rank(index, query[:QUERY_LENGTH], allowed)
        best = nsmallest(max(k, 0), scores.items(), key=lambda item: (-item[1], item[0]))
        return [Hit(index.names[number], score) for number, score in best]


def _numbers(index: _Index, within: Collection[str]) -> set[int] | None:
    numbers = {index.numbers[name] for name in within if name in index.numbers}
    return None if len(numbers) == len(index.names) else numbers


def _rank(index: _Index, query: str, allowed: Collection[int] | None) -> dict[int, float]:
    """The score of every tool that has anything to do with `query`."""
    scores = index.words.evidence(index.vocabulary.terms(query), allowed, FLOOR)
    best = max(scores.values(), default=1.0)
    gains: dict[int, float] = {}
    for clause in clauses(query, index.vocabulary.analyser):
        part = index.words.evidence(index.vocabulary.terms(clause), allowed, CLAUSE_FLOOR)
        most = max(part.values(), default=1.0)
        # A part that hardly finds anything says little of what it finds.
        factor = CLAUSE * best * min(1.0, 2 * most / best) / most
        for number, score in part.items():
            if factor * score > gains.get(number, 0.0):
                gains[number] = factor * score
    for number, gain in gains.items():
        scores[number] = scores.get(number, 0.0) + gain
    best = max(scores.values(), default=1.0)
    for number, how in index.identifiers.named(query).items():
        if allowed is None or number in allowed:
            scores[number] = scores.get(number, 0.0) + (1 + how) * best
    return scores
