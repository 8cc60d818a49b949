"""What a request says: its parts, and the terms of a catalogue that its words stand for."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from deferred_tools.retrievers.fields import as_written
from deferred_tools.retrievers.inverted import Inverted
from deferred_tools.retrievers.spelling import Spelling
from deferred_tools.retrievers.synonyms import LONGEST, Synonyms
from deferred_tools.retrievers.text import STOP_WORDS, Analyser

CLAUSES = 16
"""Parts of one request that are looked at by themselves."""
CLAUSE_WORDS = 3
"""Words that say something in the shortest of them."""
GUESSES = 8
"""Unknown words of a request that are looked up by spelling."""
REPEAT = 0.5
"""How soon saying a word again adds nothing."""
SPLIT = 0.7
"""Weight of the parts of a word that the catalogue writes as two."""
MISSPELT = 0.6
"""Weight of a word that is spelt like an unknown one, times their likeness."""
JOINED = 0.5
"""Weight of two neighbouring words as one."""
AS_WRITTEN = 0.15
"""Weight of a word as it stands in a name, beside its stem."""

_CLAUSE = re.compile(
    r"(?<=[.;!?])\s+|[\u3002\uff01\uff1b\uff1f]|\n+"
    r"|[,\u3001\uff0c]\s*(?:(?:and|then|also|or)\s)?"
    r"|\s(?:and then|then|and also|and|also|as well as|additionally|moreover|furthermore|plus)\s",
    re.IGNORECASE,
)


def clauses(request: str, analyser: Analyser) -> list[str]:
    """The parts of a request that asks for several things; empty if it asks for one."""
    parts = [part for part in _CLAUSE.split(request) if len(analyser.stems(part)) >= CLAUSE_WORDS]
    return parts[:CLAUSES] if len(parts) > 1 else []


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """What words mean in one catalogue."""

    analyser: Analyser
    words: Inverted
    spelling: Spelling
    synonyms: Synonyms

    def terms(self, text: str) -> dict[str, float]:
        """The terms that the words of `text` stand for, each with its weight."""
        known = self.words.postings
        chunks = [self.analyser.chunk(run) for run in self.analyser.runs(text)]
        words = [word for chunk in chunks for word in chunk.words]
        said = Counter(stem for chunk in chunks for stem in chunk.stems)
        terms: dict[str, float] = {}

        def add(term: str, weight: float) -> None:
            if term in known and weight > terms.get(term, 0.0):
                terms[term] = weight

        guesses = 0
        for stem, times in said.items():
            weight = times * (1 + REPEAT) / (times + REPEAT)
            if stem in known:
                add(stem, weight)
            elif stem in self.words.joined:
                for part in self.words.joined[stem]:
                    add(part, SPLIT * weight)
            elif guesses < GUESSES and not any(map(str.isdigit, stem)):
                guesses += 1
                for term, likeness in self.spelling.close(stem):
                    add(term, MISSPELT * likeness * weight)
        for term, weight in self._synonyms(words):
            if term not in said:
                add(term, weight)
        for left, right in pairwise(words):
            stem = self.analyser.stem(left + right)
            if stem not in terms and not STOP_WORDS.issuperset((left, right)):
                add(stem, JOINED)
        for word in words:
            add(as_written(word), AS_WRITTEN)
        return terms

    def _synonyms(self, words: Sequence[str]) -> Iterator[tuple[str, float]]:
        stems = tuple(map(self.analyser.stem, words))
        for length in range(1, LONGEST + 1):
            for start in range(len(stems) - length + 1):
                yield from self.synonyms.get(stems[start : start + length], {}).items()
