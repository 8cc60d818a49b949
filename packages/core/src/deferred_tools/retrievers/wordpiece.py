"""Word pieces: text as the numbers that a BERT vocabulary (uncased) gives to parts of words.

Pure Python, equal to the tokenizer of the models, but that names of special tokens in a text are
text: what a tool says of itself controls nothing. Any text gives pieces.
"""

import gzip
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import chain

UNKNOWN, START, END = "[UNK]", "[CLS]", "[SEP]"
"""Special pieces: a word that cannot be spelt, the start and the end of a text."""
LONGEST = 100
"""Letters of the longest word that is not unknown."""
REMEMBERED = 32_768
"""Words whose pieces are remembered."""

_INNER = "##"
_CONTROLS = frozenset({"Cc", "Cf", "Co", "Cs"})
# Han characters stand for themselves; the last but one starts where the models' tokenizer does.
_HAN = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)


class WordPieces:
    """Turns text into numbers of word pieces. Threads may share one."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        """Take the pieces in the order of their numbers; those within a word start with `##`.

        Raises:
            ValueError: The vocabulary has no piece for what is unknown.
        """
        if UNKNOWN not in vocabulary:
            raise ValueError(f"The vocabulary of {len(vocabulary)} pieces has no {UNKNOWN!r}.")
        self.numbers = {piece: number for number, piece in enumerate(vocabulary)}
        """Number of each piece."""
        self._letters = _Letters()
        self._longest = max(map(len, vocabulary))
        self._spell = lru_cache(maxsize=REMEMBERED)(self._spelt)

    def __call__(self, text: str) -> list[int]:
        """The numbers of the pieces of `text`, in order."""
        return list(chain.from_iterable(map(self._spell, text.translate(self._letters).split(" "))))

    def _spelt(self, word: str) -> tuple[int, ...]:
        """The longest piece that starts the word, then the longest that goes on, and so on."""
        if len(word) > LONGEST:
            return (self.numbers[UNKNOWN],)
        found: list[int] = []
        start = 0
        while start < len(word):
            mark = _INNER if start else ""
            for end in range(min(len(word), start + self._longest), start, -1):
                number = self.numbers.get(mark + word[start:end])
                if number is not None:
                    found.append(number)
                    start = end
                    break
            else:
                return (self.numbers[UNKNOWN],)
        return tuple(found)


def read_word_pieces() -> WordPieces:
    """The word pieces of BERT uncased, from the package. Takes some milliseconds."""
    packed = files("deferred_tools.retrievers").joinpath("data/wordpiece.txt.gz").read_bytes()
    return WordPieces(gzip.decompress(packed).decode().splitlines())


class _Letters(dict[int, str]):
    """What each character becomes, by code point, worked out when it is first met."""

    def __missing__(self, point: int) -> str:
        self[point] = became = _plain(chr(point))
        return became


def _plain(char: str) -> str:
    """`char` in lower case without accents; between spaces if it is a word by itself."""
    if char in "\t\n\r" or (char.isspace() and unicodedata.category(char) != "Cc"):
        return " "
    if char == "\ufffd" or unicodedata.category(char) in _CONTROLS:
        return ""
    parts = [
        part for part in unicodedata.normalize("NFD", char) if unicodedata.category(part) != "Mn"
    ]
    plain = "".join(f" {part} " if _is_mark(part) else part.lower() for part in parts)
    han = any(first <= ord(char) <= last for first, last in _HAN)
    return f" {plain} " if han else plain


def _is_mark(char: str) -> bool:
    """Whether a character is punctuation to the models; in ASCII also `$`, `+` and the like."""
    return unicodedata.category(char).startswith("P") or (char.isascii() and not char.isalnum())
