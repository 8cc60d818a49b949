"""Where a JSON object ends whose text arrives in pieces. Knows nothing of calls.

Only brackets and texts are told apart; whether the JSON is right is for whoever parses it.
"""

import re

_OUTSIDE_TEXT = re.compile(r'["{}\[\]]')
_IN_TEXT = re.compile(r'["\\]')
_NOT_BLANK = re.compile(r"[^ \t\r\n]")


class ObjectScanner:
    """Reads every character once, however the text is cut."""

    __slots__ = ("_depth", "_escaped", "_in_text", "ended", "is_nested", "started")

    def __init__(self) -> None:
        self.started = False
        """Whether anything but blanks came."""
        self.ended = False
        """Whether the object, or list, has come to its end."""
        self.is_nested = True
        """Whether the text begins as an object or a list does, as far as that is known."""
        self._in_text = self._escaped = False
        self._depth = 0

    def feed(self, text: str) -> int:
        """How many characters of `text` belong to the object: all, unless it ends before them."""
        at = self._start(text)
        while at < len(text) and self.is_nested and not self.ended:
            at = self._text(text, at) if self._in_text else self._structure(text, at)
        return at if self.ended else len(text)

    def _start(self, text: str) -> int:
        if self.started or self.ended:
            return 0
        first = _NOT_BLANK.search(text)
        if first is None:
            return len(text)
        self.started = True
        self.is_nested = first.group() in "{["
        return first.start()

    def _text(self, text: str, at: int) -> int:
        if self._escaped:
            self._escaped = False
            return at + 1
        found = _IN_TEXT.search(text, at)
        if found is None:
            return len(text)
        self._escaped = found.group() == "\\"
        self._in_text = self._escaped
        return found.end()

    def _structure(self, text: str, at: int) -> int:
        found = _OUTSIDE_TEXT.search(text, at)
        if found is None:
            return len(text)
        mark = found.group()
        if mark == '"':
            self._in_text = True
        else:
            self._depth += 1 if mark in "{[" else -1
            self.ended = self._depth == 0
        return found.end()
