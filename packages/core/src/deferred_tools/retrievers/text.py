"""Words: the searchable text of a spec, and the analyser that tools and queries share.

Knows specs and languages, not rankings. Pure, offline, total: any text gives words.
"""

import re
import threading
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, islice
from typing import NamedTuple

from deferred_tools.errors import ConfigurationError
from deferred_tools.retrievers.stop_words import ENGLISH, stop_words
from deferred_tools.sentences import Sentences
from deferred_tools.spec import ToolSpec

DESCRIPTION_LENGTH = 2_000
"""Characters of title and description that are searched."""
LEAD_LENGTH = 400
"""Characters of title and first sentence that are searched as the lead."""
DETAILS_LENGTH = 1_500
"""Characters of parameter descriptions and choices that are searched, per tool."""
DETAIL_LENGTH = 250
"""Characters of one parameter description or choice that are searched."""
CHOICES = 20
"""Choices of one parameter that are searched."""
PARAMETERS = 256
"""Parameters, nested ones included, that are searched per tool."""

REMEMBERED = 65_536
"""Words, and runs of letters, whose stems are remembered."""
# Blocks of letters that are written without spaces between words.
_UNSPACED = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1100, 0x11FF),  # Hangul letters
    (0x1780, 0x17FF),  # Khmer
    (0x2E80, 0x2FDF),  # Han radicals
    (0x3005, 0x318F),  # kana, bopomofo, Hangul letters
    (0x31A0, 0x31FF),  # bopomofo, kana
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),  # Han
    (0xA960, 0xA97F),  # Hangul letters
    (0xAA60, 0xAA7F),  # Burmese
    (0xAC00, 0xD7FF),  # Hangul
    (0xF900, 0xFAFF),  # Han
    (0x20000, 0x3FFFF),  # Han
)
_STARTS = [start for start, _ in _UNSPACED]
# ASCII letters, digits, `-`, `.` and `_`, and all else; 64 is more than any name may have.
_RUN = re.compile(r"[-.0-9A-Z_a-z\x80-\U0010ffff]{1,64}")
# Where a word ends within `getUser`, `page2Next`, `V1Api` and `XMLFeed`; and the s of `URLs`.
_CASE = re.compile(
    r"(?<=[a-z])(?=[A-Z])|(?<=[a-z]\d)(?=[A-Z])|(?<=\d)(?=[A-Z][a-z])"
    r"|(?<=[A-Z])(?=[A-Z](?!s(?![a-z]))[a-z])|(?<=[A-Z]{2})s(?![a-z])"
)
_PIECE = re.compile(r"[a-z0-9]+")
_LETTERS = re.compile(r"[a-z]{3,}")
# Plurals that the stemmer takes for words, since it looks for a vowel: `pdfs`, `vpcs`.
_ABBREVIATIONS = re.compile(r"[b-df-hj-np-tv-xz]{2,}[b-df-hj-np-rtv-xz]s")
# Snowball English changes no word with another end: asking first saves most of the time.
_CHANGED = "s y e i l ed er ic or ant ent ing ion ism ogist"
_ENDINGS = tuple(_CHANGED.split())


class Chunk(NamedTuple):
    """A run of letters, digits and joining marks: a word, or an identifier."""

    words: tuple[str, ...]
    """Its words, folded."""
    stems: tuple[str, ...]
    """Their stems, without stop words."""
    joined: str
    """Its two words as one, as in `GitHub` or `e-mail`; empty if it has not two."""


class Analyser:
    """Turns text into words and words into stems. Threads may share one."""

    def __init__(self, language: str = ENGLISH) -> None:
        """Take a language of the Snowball stemmers, whose endings words lose.

        Raises:
            ConfigurationError: There is no stemmer for it.
        """
        # It loads thirty languages: not before somebody searches.
        import snowballstemmer  # noqa: PLC0415

        known = snowballstemmer.algorithms()
        if language not in known:
            raise ConfigurationError(
                f"There is no stemmer for {language!r}. Choose one of: {', '.join(sorted(known))}."
            )
        stemmer = snowballstemmer.stemmer(language)
        lock = threading.Lock()  # the stemmer keeps the word that it works on in itself

        def stem(word: str) -> str:
            if language == ENGLISH:
                if not word.endswith(_ENDINGS) or not word.isascii():
                    return word
                if _ABBREVIATIONS.fullmatch(word):
                    return word[:-1]
            if not word.isalpha():
                return word
            with lock:
                return str(stemmer.stemWord(word))

        self.stop_words = stop_words(language)
        """Words that say nothing by themselves."""
        self.stem = lru_cache(maxsize=REMEMBERED)(stem)
        self.chunk = lru_cache(maxsize=REMEMBERED)(self._chunk)

    def runs(self, text: str) -> list[str]:
        """The runs of `text` that `chunk` takes, in order."""
        return _RUN.findall(text if text.isascii() else unicodedata.normalize("NFKC", text))

    def _chunk(self, run: str) -> Chunk:
        """What a run holds; case is a boundary until it is folded."""
        lower = run.lower()
        if run.isascii() and run.isalpha() and run[1:] == lower[1:]:  # a plain word, as most are
            return Chunk((lower,), () if lower in self.stop_words else (self.stem(lower),), "")
        folded = fold(run if run == lower else _CASE.sub(" ", run))
        pieces = _PIECE.findall(folded) if folded.isascii() else list(_scripts(folded))
        words: list[str] = []
        for piece in pieces:
            words.append(piece)
            if piece.isascii() and not piece.isalpha():  # `oauth2` is `oauth` too
                words += (letters for letters in _LETTERS.findall(piece) if letters != piece)
        stems = [self.stem(word) for word in words if word not in self.stop_words]
        match pieces:
            case [left, right] if folded.isascii():
                return Chunk(tuple(words), tuple(stems), left + right)
        return Chunk(tuple(words), tuple(stems), "")

    def words(self, text: str) -> list[str]:
        """The words of `text` in order, folded."""
        return [word for run in self.runs(text) for word in self.chunk(run).words]

    def stems(self, text: str) -> list[str]:
        """The stems of the words of `text` that say something, in order."""
        return [stem for run in self.runs(text) for stem in self.chunk(run).stems]


def fold(text: str) -> str:
    """`text` in one form, whatever its case, width and invisible characters."""
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKD", text).casefold())
    return "".join(char for char in folded if not _ignored(char))


def squash(text: str) -> str:
    """The letters and digits of `text` alone: what spellings of one identifier share."""
    if text.isascii() and text.isalnum():
        return text.lower()
    return "".join(filter(str.isalnum, fold(text)))


def _scripts(text: str) -> Iterator[str]:
    """Words of scripts with spaces; pairs of neighbouring letters of scripts without."""
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
    """Format characters and variation selectors: nobody sees or types them."""
    return unicodedata.category(char) == "Cf" or "\ufe00" <= char <= "\ufe0f"


@dataclass(frozen=True, slots=True)
class SearchText:
    """What is searched of a tool, by field."""

    name: str
    source: str
    lead: str
    """The title, and what the description says first: what the tool is for."""
    description: str
    """The description, the lead included."""
    parameters: str
    """Names of parameters."""
    details: str
    """Descriptions of parameters and the values that they may take."""
    labels: str
    """Tags and aliases."""

    @classmethod
    def of(cls, spec: ToolSpec) -> "SearchText":
        """The searchable text of `spec`, within the bounds above."""
        names: list[str] = []
        details: list[str] = []
        room = DETAILS_LENGTH
        for name, schema in islice(_parameters(dict(spec.input_schema or {})), PARAMETERS):
            names.append(name)
            for detail in _details(schema) if room > 0 else ():
                details.append(detail[:DETAIL_LENGTH])
                room -= len(details[-1])
        renamed = squash(spec.tool) not in squash(spec.name)
        telling = Sentences.of(spec.description[:DESCRIPTION_LENGTH], 1).telling
        return cls(
            name=f"{spec.tool} {spec.name}" if renamed else spec.tool,
            source=spec.source,
            lead="\n".join((spec.title, *telling[:1]))[:LEAD_LENGTH],
            description=f"{spec.title}\n{spec.description}"[:DESCRIPTION_LENGTH],
            parameters=" ".join(names),
            details="\n".join(details)[:DETAILS_LENGTH],
            labels="\n".join((*sorted(spec.tags), *spec.aliases)),
        )


def _parameters(schema: object) -> Iterator[tuple[str, object]]:
    """Name and schema of each parameter, the outer ones first; any JSON will do."""
    nodes = [schema]
    for node in islice(nodes, PARAMETERS):  # grows while it is walked
        if not isinstance(node, dict):
            continue
        for keyword in ("properties", "$defs", "definitions"):
            children = node.get(keyword)
            if isinstance(children, dict):
                if keyword == "properties":
                    yield from ((str(name), child) for name, child in children.items())
                nodes += children.values()
        for keyword in ("anyOf", "oneOf", "allOf"):
            branches = node.get(keyword)
            if isinstance(branches, list):
                nodes += branches
        nodes.append(node.get("items"))


def _details(schema: object) -> Iterator[str]:
    if isinstance(schema, dict):
        choices = schema.get("enum")
        values = choices[:CHOICES] if isinstance(choices, list) else ()
        for value in (schema.get("description"), *values):
            if isinstance(value, str):
                yield value
