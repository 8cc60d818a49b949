"""The arguments of one streamed call while they arrive. Knows nothing of other calls."""

import codecs
from collections.abc import Mapping, Sequence
from typing import Any

from deferred_tools.bridge.events import Reason
from deferred_tools.bridge.reading import (
    UnreadableError,
    as_text,
    canonical,
    read_arguments,
)
from deferred_tools.bridge.scanner import ObjectScanner

_BLANK = " \t\r\n"
_NOTHING = ("", "null")
_utf8_decoder = codecs.getincrementaldecoder("utf-8")


class StreamedArguments:
    """Fragments of one call's arguments, joined once, when they are read.

    Fragments count for more than arguments that are announced whole before them. What comes after
    the end of the object may only say the same again.
    """

    __slots__ = ("_after", "_announced", "_broken", "_decoder", "_parts", "_restated", "_scanner")

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._after: list[str] = []
        self._announced: list[str] = []
        self._restated: list[str] = []
        self._scanner = ObjectScanner()
        self._decoder: codecs.IncrementalDecoder | None = None
        self._broken: UnreadableError | None = None

    @property
    def ended(self) -> bool:
        """Whether a whole object is there."""
        return self._scanner.ended if self._scanner.started else bool(self._announced)

    @property
    def empty(self) -> bool:
        """Whether nothing came that could be an object."""
        begun = self._scanner.started and self._scanner.is_nested
        return not (begun or self._announced)

    @property
    def raw(self) -> str:
        """The fragments, or what was announced if there are none."""
        return "".join([*self._parts, *self._after]) or "".join(self._announced)

    def add(self, fragment: str | bytes) -> str:
        """Take a fragment; what of it belongs to the arguments, for a preview."""
        text = self._decoded(fragment)
        length = self._scanner.feed(text)
        if length < len(text):
            self._after.append(text[length:])
            text = text[:length]
        if text:
            self._parts.append(text)
        return text

    def state(self, whole: str | Mapping[str, object]) -> None:
        """Take arguments that are said to be whole. First of all, {} says no more than nothing."""
        if not whole and self.empty:
            return
        try:
            text = whole if isinstance(whole, str) else as_text(whole)
        except UnreadableError as error:
            self._broken = error
            return
        if text.strip(_BLANK) not in _NOTHING:
            (self._restated if self._scanner.started else self._announced).append(text)

    def read(self) -> dict[str, Any] | None:
        """What the arguments are; None if nothing came, or null.

        Raises:
            UnreadableError: They are no JSON object, or were said in different ways.
        """
        if self._broken is not None:
            raise self._broken
        if self._in_a_character:
            raise UnreadableError(Reason.TRUNCATED, "its arguments end within a character")
        text = "".join(self._parts)
        if text.strip(_BLANK) in _NOTHING:
            return _agreed(self._announced + self._restated)
        if self._scanner.is_nested and not self._scanner.ended:
            raise UnreadableError(Reason.TRUNCATED, "its arguments were cut off before their end")
        after = "".join(self._after)
        return _agreed([text, *([after] if after.strip(_BLANK) else []), *self._restated])

    def _decoded(self, fragment: str | bytes) -> str:
        if isinstance(fragment, bytes):
            self._decoder = self._decoder or _utf8_decoder()
            try:
                return self._decoder.decode(fragment)
            except UnicodeDecodeError:
                fragment = fragment.decode(errors="replace")
        elif not self._in_a_character:
            return fragment
        self._broken = UnreadableError(Reason.UNPARSEABLE, "its arguments are not UTF-8")
        return fragment

    @property
    def _in_a_character(self) -> bool:
        return self._decoder is not None and bool(self._decoder.getstate()[0])


def _agreed(texts: Sequence[str]) -> dict[str, Any] | None:
    """What all `texts` say; None if there is none."""
    if not texts:
        return None
    first, *others = texts
    value = read_arguments(first)
    for text in others:
        if text.strip(_BLANK) != first.strip(_BLANK) and not _says(text, value):
            raise UnreadableError(
                Reason.CONFLICTING, "something else came after the end of its arguments"
            )
    return value


def _says(text: str, value: Mapping[str, Any]) -> bool:
    try:
        return canonical(read_arguments(text)) == canonical(value)
    except (UnreadableError, RecursionError):
        return False
