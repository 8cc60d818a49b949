"""What words stand for in one catalogue: the terms that its tools hold, and what each tells."""

import math
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from deferred_tools.retrievers import synonyms
from deferred_tools.retrievers.impacts import asked
from deferred_tools.retrievers.postings import Postings
from deferred_tools.retrievers.request import Phrase
from deferred_tools.retrievers.spelling import SLIP, Spelling
from deferred_tools.retrievers.text import Analyser
from deferred_tools.retrievers.tool_terms import as_one, as_written, is_stem

RARITY_POWER = 1.15
"""Above 1, rare words count for more than BM25's idf gives them."""
REPEAT = 0.3
"""How soon saying a word again adds nothing."""
GUESSES = 8
"""Unknown words of a request that are looked up by spelling."""
MISSPELT = 0.8
"""Weight of a word that is spelt like an unknown one, times their likeness."""
AS_ONE = 0.7
"""Weight of two words of a tool that the request writes as one."""
JOINED = 0.7
"""Weight of two neighbouring words of the request as one."""
NEIGHBOURS = 0.3
"""The same where the tool, too, has them as neighbours, which adds to each by itself."""
AS_WRITTEN = 0.15
"""Weight of a word as it stands in a name, beside its stem."""
REMEMBERED = 65_536
"""Terms, stems, words and pairs whose worth is remembered."""

_LETTERS = re.compile(r"[^\W\d_]+")

Weighted = tuple[str, float]
"""A term and its weight."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A piece of a request in the terms of a catalogue."""

    terms: Mapping[str, int]
    """As `Postings` takes them."""
    unit: float
    """What 1 of their scores is worth."""
    said: Mapping[str, float]
    """What each term tells, at most once what a word tells that is said once."""


class Lexicon:
    """The terms of a catalogue, whose postings others fill.

    What is asked often is remembered until tools come or go.
    """

    def __init__(
        self, analyser: Analyser, postings: Postings, language: Container[str] = ()
    ) -> None:
        """Take what holds the stems of words that are no slip though no tool has them, if known."""
        self._analyser = analyser
        self._language = language
        self._postings = postings
        self._spelling = Spelling()
        self._synonyms = synonyms.read(analyser.stem)
        self._first_words = {words[0] for words in self._synonyms if len(words) > 1}
        self.rarity = lru_cache(maxsize=REMEMBERED)(self._rarity)
        self._of_stem = lru_cache(maxsize=REMEMBERED)(self._stem_terms)
        self._of_word = lru_cache(maxsize=REMEMBERED)(self._word_terms)
        self._of_pair = lru_cache(maxsize=REMEMBERED)(self._pair_terms)

    def learn(self, words: Iterable[str]) -> None:
        """Know how the words of a tool are spelt."""
        self._spelling.add(words)

    def changed(self) -> None:
        """Tools have come or gone."""
        for remembered in (self.rarity, self._of_stem, self._of_word, self._of_pair):
            remembered.cache_clear()

    def ask(self, phrase: Phrase) -> Asked:
        """The terms that the words of `phrase` stand for, weighted."""
        weights = self.terms(phrase)
        rarities = {term: self.rarity(term) for term in weights}
        terms, unit = asked({term: weights[term] * told for term, told in rarities.items()})
        said = {term: min(1.0, weights[term]) * told for term, told in rarities.items()}
        return Asked(terms, unit, said)

    def terms(self, phrase: Phrase) -> dict[str, float]:
        """The terms that the words of `phrase` stand for and how surely, rarity aside."""
        terms: dict[str, float] = {}
        for meant in self._meant(phrase):
            for term, weight in meant:
                if weight > terms.get(term, 0.0):
                    terms[term] = weight
        return terms

    def understood(self, phrase: Phrase) -> Counter[str]:
        """How often `phrase` says each stem, its unknown words as the closest that are known."""
        stems: Counter[str] = Counter()
        for stem, (times, own) in self._own(phrase).items():
            closest = next((term for term, _ in own if is_stem(term)), stem)
            stems[stem if self.rarity(stem) else closest] += times
        return stems

    def mended(self, text: str) -> str:
        """`text` with each unknown word as the known one that a slip of a finger parts it from."""
        guesses = GUESSES

        def mend(found: re.Match[str]) -> str:
            nonlocal guesses
            word = found[0].lower()
            stem = self._analyser.stem(word)
            if not guesses or self._of_stem(stem) or not self._may_be_a_slip(word, stem):
                return found[0]
            guesses -= 1
            close = self._spelling.close(word)
            slips = (known for known, likeness in close if likeness >= SLIP)
            known = (known for known in slips if self.rarity(self._analyser.stem(known)))
            return next(known, found[0])

        return _LETTERS.sub(mend, text)

    def _own(self, phrase: Phrase) -> dict[str, tuple[int, tuple[Weighted, ...]]]:
        """How often each stem is said, and the terms that it stands for."""
        said: dict[str, tuple[int, tuple[Weighted, ...]]] = {}
        guesses = GUESSES
        for word in phrase.words:
            if word in self._analyser.stop_words:
                continue
            stem = self._analyser.stem(word)
            times, own = said.get(stem, (0, ()))
            if not times:
                own = self._of_stem(stem)
                if not own and guesses and self._may_be_a_slip(word, stem):
                    guesses -= 1
                    own = self._spelt_like(word)
            said[stem] = times + 1, own
        return said

    def _may_be_a_slip(self, word: str, stem: str) -> bool:
        known = word in self._analyser.stop_words or stem in self._language
        return not known and not any(map(str.isdigit, word))

    def _spelt_like(self, word: str) -> tuple[Weighted, ...]:
        return self._known(
            (self._analyser.stem(known), MISSPELT * likeness)
            for known, likeness in self._spelling.close(word)
        )

    def _meant(self, phrase: Phrase) -> Iterator[Iterable[Weighted]]:
        for times, own in self._own(phrase).values():
            if times == 1:
                yield own
            else:
                factor = times * (1 + REPEAT) / (times + REPEAT)
                yield ((term, factor * weight) for term, weight in own)
        words = phrase.words
        yield from map(self._of_word, words)
        for left, right in pairwise(words):
            yield self._of_pair(left, right)
        stems = list(map(self._analyser.stem, words))
        for start, stem in enumerate(stems):
            if stem in self._first_words:
                for length in range(2, synonyms.LONGEST + 1):
                    some = tuple(stems[start : start + length])
                    yield self._known(self._synonyms.get(some, {}).items())

    def _known(self, terms: Iterable[Weighted]) -> tuple[Weighted, ...]:
        return tuple((term, weight) for term, weight in terms if self.rarity(term))

    def _rarity(self, term: str) -> float:
        """What a term tells, the more the fewer tools hold it; 0 if none does."""
        held = self._postings.holders(term)
        if not held:
            return 0.0
        odds = (len(self._postings) - held + 0.5) / (held + 0.5)
        return float(math.log1p(odds) ** RARITY_POWER)

    def _stem_terms(self, stem: str) -> tuple[Weighted, ...]:
        return self._known(((stem, 1.0), (as_one(stem), AS_ONE)))

    def _word_terms(self, word: str) -> tuple[Weighted, ...]:
        related = self._synonyms.get((self._analyser.stem(word),), {})
        return self._known([*related.items(), (as_written(word), AS_WRITTEN)])

    def _pair_terms(self, left: str, right: str) -> tuple[Weighted, ...]:
        if self._analyser.stop_words.issuperset((left, right)):
            return ()
        stem = self._analyser.stem(left + right)
        return self._known(((stem, JOINED), (as_one(stem), NEIGHBOURS)))
