"""Words: the searchable text of a spec, and the analyser that tools and queries share.

Knows specs and languages, not rankings. Pure, offline, total: any text gives words.
"""

import re
import threading
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, islice
from typing import NamedTuple

import snowballstemmer  # type: ignore[import-untyped]  # the package ships no types

from deferred_tools.spec import ToolSpec

DESCRIPTION_LENGTH = 3_000
"""Characters of title and description that are searched."""
DETAILS_LENGTH = 2_000
"""Characters of parameter descriptions and choices that are searched, per tool."""
DETAIL_LENGTH = 300
"""Characters of one parameter description or choice that are searched."""
SUBSCHEMAS = 256
"""Parameters, nested ones included, that are searched per tool."""

STOP_WORDS = frozenset(
    """
    a about all also am an and any are as at be because been being both but by can could did do
    does doing done each either else etc every few for from give had has have having he hello help her
    here hey hi him his how i if in into is it its itself just kindly let like ll looking lot m may
    me might more most much must my need needed needs  neither no nor not now of on once one only or
    other our ours out own per please re really s same shall she should so some something such
    t tell than thank thanks that the their them then there these they this those through to too
    us use used uses using ve very via want wanted wants was we were what when where whether which
    while who whom whose why will with would you your yours
    """.split()
)

# Letters written without spaces between words: they are cut into pairs instead.
_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1100, 0x11FF),  # Hangul letters
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x2FDF),  # Han radicals
    (0x3005, 0x318F),  # kana, bopomofo, Hangul letters
    (0x31A0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xA960, 0xA97F),  # Hangul
    (0xAA60, 0xAA7F),  # Burmese
    (0xAC00, 0xD7FF),  # Hangul
    (0xF900, 0xFAFF),  # Han
    (0x20000, 0x3FFFF),
)
_STARTS = [start for start, _ in _UNSPACED]
_CHUNK = re.compile(r"[^\s\x00-\x2c\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\x7f]+")
_CASE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_PIECE = re.compile(r"[a-z0-9]+")
_LETTERS = re.compile(r"[a-z]{3,}")
_CACHED_LENGTH = 40
# Snowball English changes no word with another end: asking first saves most of the time.
_ENDINGS = tuple("s y e i l ed ing ly ance ence ant ent er or ic ism ate ous ion ness".split())


class Chunk(NamedTuple):
    """A run of letters, digits and joining marks: a word, or an identifier."""

    words: tuple[str, ...]
    """Its words, folded."""
    stems: tuple[str, ...]
    """Their stems, without stop words."""
    joined: str
    """Its two words as one, as in `GitHub` or `e-mail`; empty if it has not two."""


def fold(text: str) -> str:
    """`text` in one form, whatever its case, width and invisible characters."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKD", text).casefold())
    return "".join(char for char in folded if not _ignored(char))


def squash(text: str) -> str:
    """The letters and digits of `text` alone: what spellings of one identifier share."""
    return "".join(char for char in fold(text) if char.isalnum())


class Analyser:
    """Turns text into words, and words into stems. Safe to share between threads."""

    def __init__(self) -> None:
        stemmer = snowballstemmer.stemmer("english")
        lock = threading.Lock()  # the stemmer keeps its state in itself

        def stem(word: str) -> str:
            if not word.isalpha() or not word.isascii() or not word.endswith(_ENDINGS):
                return word
            with lock:
                return str(stemmer.stemWord(word))

        self.stem = lru_cache(maxsize=65_536)(stem)
        self._chunk = lru_cache(maxsize=65_536)(self._analyse)

    def chunks(self, text: str) -> list[Chunk]:
        """The runs of letters, digits and joining marks in `text`, in order."""
        if not text.isascii():
            text = unicodedata.normalize("NFKC", text)
        return [
            self._chunk(run) if len(run) <= _CACHED_LENGTH else self._analyse(run)
            for run in _CHUNK.findall(text)
        ]

    def words(self, text: str) -> list[str]:
        """The words of `text` in order, folded."""
        return [word for chunk in self.chunks(text) for word in chunk.words]

    def stems(self, text: str) -> list[str]:
        """The stems of the words of `text` that say something, in order."""
        return [stem for chunk in self.chunks(text) for stem in chunk.stems]

    def _analyse(self, run: str) -> Chunk:
        folded = fold(_CASE.sub(" ", run))
        pieces = _PIECE.findall(folded) if folded.isascii() else list(_scripts(folded))
        words: list[str] = []
        for piece in pieces:
            words.append(piece)
            if not piece.isalpha():
                words += (letters for letters in _LETTERS.findall(piece) if letters != piece)
        return Chunk(
            words=tuple(words),
            stems=tuple(self.stem(word) for word in words if word not in STOP_WORDS),
            joined="".join(pieces) if len(pieces) == 2 and folded.isascii() else "",
        )


def _scripts(text: str) -> Iterator[str]:
    """Words of scripts with spaces; pairs of letters of scripts without."""
    for kind, run in groupby(text, key=_script):
        letters = "".join(run)
        if kind == "spaced" and any(map(str.isalnum, letters)):
            yield letters
        elif kind == "unspaced":
            yield from (letters[i : i + 2] for i in range(max(1, len(letters) - 1)))


@lru_cache(maxsize=4_096)
def _script(char: str) -> str:
    if not char.isalnum() and not unicodedata.category(char).startswith("M"):
        return ""
    at = bisect_right(_STARTS, ord(char)) - 1
    return "unspaced" if at >= 0 and ord(char) <= _UNSPACED[at][1] else "spaced"


def _ignored(char: str) -> bool:
    return unicodedata.category(char) == "Cf" or "\ufe00" <= char <= "\ufe0f"


@dataclass(frozen=True, slots=True)
class SearchText:
    """What is searched of a tool, by field."""

    name: str
    source: str
    description: str
    parameters: str
    """Names of parameters."""
    details: str
    """Descriptions of parameters and the values that they may take, within bounds."""
    labels: str
    """Tags and aliases."""

    @classmethod
    def of(cls, spec: ToolSpec) -> "SearchText":
        """The searchable text of `spec`."""
        names: list[str] = []
        details: list[str] = []
        room = DETAILS_LENGTH
        renamed = squash(spec.tool) not in squash(spec.name)
        for name, schema in islice(_parameters(spec.input_schema), SUBSCHEMAS):
            names.append(name)
            for detail in _details(schema):
                if room > 0:
                    details.append(detail[: min(room, DETAIL_LENGTH)])
                    room -= len(details[-1])
        return cls(
            name=f"{spec.tool} {spec.name}" if renamed else spec.tool,
            source=spec.source,
            description=f"{spec.title}\n{spec.description}"[:DESCRIPTION_LENGTH],
            parameters=" ".join(names),
            details="\n".join(details),
            labels="\n".join((*sorted(spec.tags), *spec.aliases)),
        )


def _parameters(schema: object) -> Iterator[tuple[str, object]]:
    """Name and schema of each parameter, the outer ones first; any JSON is accepted."""
    nodes = [schema]
    for node in islice(nodes, SUBSCHEMAS):  # grows while it is walked: outer ones come first
        if not isinstance(node, Mapping):
            continue
        properties = node.get("properties")
        if isinstance(properties, Mapping):
            yield from ((str(name), child) for name, child in properties.items())
        for keyword in ("properties", "$defs", "definitions"):
            children = node.get(keyword)
            nodes += children.values() if isinstance(children, Mapping) else ()
        for keyword in ("anyOf", "oneOf", "allOf"):
            branches = node.get(keyword)
            nodes += branches if isinstance(branches, list) else ()
        nodes.append(node.get("items"))


def _details(schema: object) -> Iterator[str]:
    if not isinstance(schema, Mapping):
        return
    
    choices = schema.get("enum")
    values = choices[:20] if isinstance(choices, list) else ()
    yield from (value for value in (schema.get("description"), *values) if isinstance(value, str))
