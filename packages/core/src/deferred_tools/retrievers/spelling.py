"""Close spelling: the words of a catalogue that an unknown word may stand for."""

from collections.abc import Iterable
from functools import lru_cache

MIN_LENGTH = 4
"""Shorter words are never taken for a slip: too many words are near them."""
LONG = 5
CLOSEST = 2
"""Words that one unknown word may stand for."""
SLIP = 0.9
"""Likeness of two words that one slip of a finger parts."""
ALIKE = 0.6
"""Least likeness, as the Dice share of common letter triples."""


class Spelling:
    """Looks up words by their first or last letters: a slip leaves one end as it was."""

    def __init__(self, vocabulary: Iterable[str]) -> None:
        self._ends: dict[str, list[str]] = {}
        for word in vocabulary:
            for end in _ends(word):
                self._ends.setdefault(end, []).append(word)
        self.close = lru_cache(maxsize=1_024)(self._close)

    def _close(self, word: str) -> tuple[tuple[str, float], ...]:
        """The closest known words and how like `word` each is, from 0 to 1, best first."""
        candidates = dict.fromkeys(
            known for end in _ends(word) for known in self._ends.get(end, ())
        )
        alike = [(known, likeness(word, known)) for known in candidates]
        alike.sort(key=lambda pair: -pair[1])
        return tuple(pair for pair in alike[:CLOSEST] if pair[1] >= ALIKE)


def likeness(word: str, known: str) -> float:
    """How alike two words are, from 0 to 1."""
    if abs(len(word) - len(known)) <= 1 and word[0] == known[0] and _one_slip(word, known):
        return SLIP
    if 2 * min(len(word), len(known)) < ALIKE * (len(word) + len(known)):
        return 0.0
    ours, theirs = _grams(word), _grams(known)
    return 2 * len(ours & theirs) / (len(ours) + len(theirs))


def _one_slip(word: str, known: str) -> bool:
    """Whether one letter more, less, changed or swapped with the next makes them equal."""
    start = 0
    for ours, theirs in zip(word, known, strict=False):
        if ours != theirs:
            break
        start += 1
    left, right = word[start:], known[start:]
    if left[:2] == right[1::-1] and left[2:] == right[2:]:
        return True
    return len(word)>=LONG and left[len(left) >= len(right) :] == right[len(right) >= len(left) :]


def _ends(word: str) -> tuple[str, ...]:
    if not word.isascii():  # letters of unspaced scripts say more, and come in pairs
        return tuple({word[:1], word[-1:]})
    return (f"^{word[:3]}", f"{word[-3:]}$") if len(word) >= MIN_LENGTH else ()


def _grams(word: str) -> set[str]:
    if not word.isascii():
        return set(word)
    edged = f"^{word}$"
    return {edged[i : i + 3] for i in range(len(edged) - 2)}
