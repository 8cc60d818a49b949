"""Close spelling: the words of a catalogue that an unknown word may stand for."""

from collections.abc import Iterable
from functools import lru_cache

CLOSEST = 2
"""Words that one unknown word may stand for."""
SHORT = 4
"""Length below which no word is taken for another."""
MIDDLING = 7
"""Length up to which a slip may leave no end of three letters, so two will do."""
SLIP = 0.9
"""Likeness of two words that one slip of a finger parts."""
ALIKE = 0.66
"""Least likeness otherwise: the Dice share of common letter triples."""


class Spelling:
    """Looks words up by what a slip leaves as it was: the start, the end or the letters."""

    def __init__(self, terms: Iterable[str] = ()) -> None:
        self._known: set[str] = set()
        self._by_key: dict[str, list[str]] = {}
        self.close = lru_cache(maxsize=1_024)(self._close)
        self.add(terms)

    def add(self, terms: Iterable[str]) -> None:
        """Know more words."""
        new = set(terms) - self._known
        if new:
            self._known |= new
            for term in sorted(new):  # in the same order in every process
                for key in _keys(term):
                    self._by_key.setdefault(key, []).append(term)
            self.close.cache_clear()

    def _close(self, word: str) -> tuple[tuple[str, float], ...]:
        """The closest known words and how like `word` each is, from 0 to 1, best first."""
        keys = _keys(word)
        candidates = dict.fromkeys(term for key in keys for term in self._by_key.get(key, ()))
        alike = [(term, likeness(word, term)) for term in candidates]
        alike.sort(key=lambda pair: -pair[1])
        return tuple(pair for pair in alike[:CLOSEST] if pair[1] >= ALIKE)


def likeness(word: str, term: str) -> float:
    """How alike two words are, from 0 to 1."""
    same_start = word[0] == term[0] or word[:2] == term[1::-1]
    if same_start and _one_slip(word, term):
        return SLIP
    ours, theirs = _grams(word), _grams(term)
    return 2 * len(ours & theirs) / (len(ours) + len(theirs))


def _one_slip(word: str, term: str) -> bool:
    """Whether one letter more, less or other, or two that changed places, make them equal.

    Short words are near too many others: of those only swapped letters count.
    """
    longer = len(word) - len(term)
    if abs(longer) > 1:
        return False
    start = 0
    while start < min(len(word), len(term)) and word[start] == term[start]:
        start += 1
    left, right = word[start:], term[start:]
    if left[:2] == right[1::-1] and left[2:] == right[2:]:
        return True
    return len(word) > SHORT and left[longer >= 0 :] == right[longer <= 0 :]


def _keys(term: str) -> tuple[str, ...]:
    if not term.isascii():  # a pair of letters of a script without spaces, or one of them
        return tuple({f"^{term[0]}", f"{term[-1]}$"})
    if len(term) < SHORT:
        return ()
    ends = (f"^{term[:3]}", f"{term[-3:]}$", "".join(sorted(term)))
    return (*ends, f"^{term[:2]}", f"{term[-2:]}$") if len(term) <= MIDDLING else ends


def _grams(term: str) -> set[str]:
    if not term.isascii():
        return set(term)
    edged = f"^{term}$"
    return {edged[i : i + 3] for i in range(len(edged) - 2)}
