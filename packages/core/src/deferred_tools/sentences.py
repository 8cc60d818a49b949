"""The sentences of a description, those that say what a tool does before those that do not.

Descriptions are Markdown, docstrings and mark-up of every kind, and are read as such: lines,
then paragraphs, then sentences. Pure text; knows nothing else of ours.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_COLONS = (":", "\uff1a")
_FENCE = ("```", "~~~")
_TAG = re.compile(r"<(/?)([A-Za-z][\w -]{0,40})/?>")
_HEADING = re.compile(r"#{1,6}\s+")
_BULLET = re.compile(r"(?:[-+*•‣▪●◦\u2013]|\d{1,2}[.)])\s+")
_STRONG = re.compile(r"(?<!\w)\*\*|\*\*(?!\w)")
_LINK = re.compile(r"!?\[([^\[\]]{1,80})\]\([^()\s]{1,300}\)")
_URL = re.compile(r"\w{2,10}://\S+")
# Emoji, rules and quotation signs before a text; what can begin a sentence stays.
_ORNAMENT = re.compile(r"(?:\d\ufe0f?\u20e3|[^\w\[({<\"'`$/.@\u201c\u2018「『\uff08【《])+")
_LABEL = re.compile(r"([^:\uff1a.!?]{1,50})[:\uff1a](?:\s+|$)")
_MARK = re.compile(
    r"\[([^\[\]]{1,24})\](?=\s|$)"
    r"|\(?(deprecated|experimental|beta|alpha|preview|legacy)(?:\)(?=\s|$)|\s*[:\uff1a])\s*"
    r"|this \w{1,20} (?:is|has been) (deprecated)\.(?=\s|$)",
    re.IGNORECASE,
)
_LETTER = re.compile(r"\w")
_WORD = re.compile(r"[^\W\d_]{2,}")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{3,}")
_STOP = re.compile(
    r"[.!?…]+[\"'\u201d\u2019)\]]{0,3}(?=\s)|[。\uff01\uff1f｡।؟]+[」』\u201d\uff09)]{0,3}"
)
_SHORTENED = """
    e.g eg i.e ie vs cf approx incl excl resp esp max min no nr fig eq ex al ca viz dr mr mrs ms
    prof st a.k.a aka w.r.t z.b d.h bzw ggf
"""
_ABBREVIATIONS = frozenset(_SHORTENED.split())
_SHORT_WORD = 4
# First words of a label or a heading: what follows tells how the tool is used, or what it is.
_USAGE = """
    additional agent arg args argument arguments attention best caution common constraints
    critical details error errors example examples guardrails hint hints important input inputs
    instead kwargs limitations mandatory must note notes optional output outputs parameter
    parameters params permissions prerequisite prerequisites raise raises recommended related
    remarks required requirements response result results return returns see throws tip tips
    troubleshooting usage use useful warning warnings when workflow yields
"""
_ASIDE = frozenset(_USAGE.split())
_PURPOSE = """
    about abstract action description function goal instructions objective overview purpose
    summary task what use_case
"""
_TELLING = frozenset(_PURPOSE.split())
_LABEL_WORDS = 3
_FULL_LINE = 60
_LINK_WORD = 3  # letters of "the" or "and", at which only a wrapped line ends


@dataclass(frozen=True, slots=True)
class Sentences:
    """What a description says, each sentence once, in its order."""

    mark: str
    """A mark such as `[DEPRECATED]` that the text began with; "" without one."""
    telling: tuple[str, ...]
    asides: tuple[str, ...]
    """Headings, single words, and what is under Args, Returns, Examples, Notes and the like."""

    @classmethod
    def of(cls, text: str, most: int) -> "Sentences":
        """Read `text` until it has said `most` telling sentences; in linear time."""
        reader = _Reader()
        for line in text.splitlines():
            reader.read(line.strip())
            if len(reader.telling) >= most:
                break
        reader.end_paragraph()
        telling = tuple(dict.fromkeys(reader.telling))[:most]
        asides = tuple(dict.fromkeys(s for s in reader.asides if s not in telling))[:most]
        return cls(reader.mark or "", telling, asides)


@dataclass(slots=True)
class _Reader:
    """Goes through the lines of one text."""

    telling: list[str] = field(default_factory=list)
    asides: list[str] = field(default_factory=list)
    mark: str | None = None
    """None until the first words have been seen."""
    paragraph: list[str] = field(default_factory=list)
    paragraph_is_aside: bool = False
    section_is_aside: bool = False
    opened: set[str] = field(default_factory=set)
    """Tags that lines began with."""
    in_fence: bool = False

    def read(self, line: str) -> None:
        if line.startswith(_FENCE):
            self.end_paragraph()
            self.in_fence = not self.in_fence
        elif self.in_fence:
            return
        elif not line or line[0] == "|":  # a table's row
            self.end_paragraph()
        else:
            self._read_words(self._bare(line))

    def end_paragraph(self) -> None:
        text = " ".join(self.paragraph)
        self.paragraph.clear()
        for sentence in split(text):
            says = sentence.lstrip("*>|~=_ ")
            if not self.paragraph_is_aside and _tells(says):
                self.telling.append(says)
            elif _LETTER.search(says):
                self.asides.append(says)

    def _bare(self, line: str) -> str:
        """`line` without tags, bullets, emphasis and links; tags and bullets end a paragraph."""
        while tag := _TAG.match(line):
            self.end_paragraph()
            self.section_is_aside = not tag[1] and _first_word(tag[2]) in _ASIDE
            self.opened.add(tag[2])
            line = line[tag.end() :].lstrip()
        if "</" in line:
            for name in self.opened:
                line = line.replace(f"</{name}>", "")
        if bullet := _BULLET.match(line):
            self.end_paragraph()
            line = line[bullet.end() :]
        if "*" in line:
            line = _STRONG.sub("", line)
        if "](" in line:
            line = _LINK.sub(r"\1", line)
        return line

    def _read_words(self, line: str) -> None:
        if heading := _HEADING.match(line):
            self.end_paragraph()
            line = line[heading.end() :].rstrip("# ")
        if not self.paragraph and (ornament := _ORNAMENT.match(line)):
            line = line[ornament.end() :]
        if self.mark is None and line:
            self.mark, line = _marks(line)
        if not line:
            return
        if heading:
            self.section_is_aside = _first_word(line) in _ASIDE
            self.asides.append(line)
            return
        label = _LABEL.match(line)
        kind = _label_kind(label[1], alone=label.end() == len(line)) if label else None
        if label and kind is not None:
            self.end_paragraph()
            line = line[label.end() :]
            if not line:
                self.section_is_aside = self.section_is_aside if kind == "" else kind == "aside"
                return
        if self.paragraph and _stands_alone(self.paragraph[-1], line):
            self.end_paragraph()
        if not self.paragraph:
            self.paragraph_is_aside = kind == "aside" if kind else self.section_is_aside
        self.paragraph.append(line)
        if line.endswith(_COLONS):  # what it introduces stands for itself
            self.end_paragraph()


def split(text: str) -> Iterator[str]:
    """The sentences of one paragraph, without white space or a colon at their ends."""
    start = 0
    for stop in _STOP.finditer(text):
        if stop[0] == "." and not _ends(text, stop.start(), stop.end()):
            continue
        yield text[start : stop.end()].strip()
        start = stop.end()
    if rest := text[start:].strip().rstrip(" ".join(_COLONS)):
        yield rest


def _tells(sentence: str) -> bool:
    """Whether `sentence` has more than one word, URLs aside."""
    words = _URL.sub("", sentence) if "://" in sentence else sentence
    word = _WORD.search(words)
    return bool(word and _WORD.search(words, word.end())) or bool(_UNSPACED.search(words))


def _stands_alone(line: str, following: str) -> bool:
    """Whether `line` was ended on purpose, not wrapped because it was full."""
    last = line.rsplit(" ", 1)[-1]
    return (
        len(line) < _FULL_LINE
        and following[0].isupper()
        and last[-1:] != ","
        and len(last) > _LINK_WORD
    )


def _ends(text: str, stop: int, after: int) -> bool:
    """Whether the full stop at `stop` ends a sentence: not an abbreviation or a number."""
    begin = max(text.rfind(" ", max(0, stop - 40), stop), -1) + 1
    word = text[begin:stop].lstrip("([{\"'`").casefold()
    if word in _ABBREVIATIONS or (len(word) == 1 and word.isalpha()):
        return False
    if word.isdigit() and len(word) < _SHORT_WORD - 1:  # of a list; a year may end a sentence
        return False
    following = text[after : after + 2].lstrip()
    if word == "etc" or (len(word) < _SHORT_WORD and word.isalpha()) or "." in word:
        return not following[:1].islower()
    return True


def _label_kind(label: str, *, alone: bool) -> str | None:
    """`aside`, `telling`, "" for a label of neither kind; None for what is no label."""
    words = label.split()
    first = _first_word(label)
    if first in _ASIDE and (alone or len(words) <= _LABEL_WORDS):
        return "aside"
    if first in _TELLING and len(words) <= _LABEL_WORDS:
        return "telling"
    return "" if alone and len(words) <= _LABEL_WORDS else None


def _marks(line: str) -> tuple[str, str]:
    """The marks that `line` begins with, as one, and the rest of it."""
    marks = ""
    while found := _MARK.match(line):
        marks = f"{marks} [{found[found.lastindex or 0]}]".lstrip()
        line = line[found.end() :].lstrip()
    return marks, line


def _first_word(text: str) -> str:
    words = re.findall(r"\w+", text[:40].casefold())
    return words[0] if words else ""
