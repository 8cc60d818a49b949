"""Where the keys of a JSON or TOML text stand. Pure."""

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field

from deferred_tools.documents.origin import KeyLine, KeyPath

_JSON_MARK = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],\n]')
_TOML_MARK = re.compile(
    r"(?P<skip>\#[^\n]*)"
    r'|(?P<text>"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\')'
    r"|(?P<bare>[A-Za-z0-9_-]+)"
    r"|[{}\[\],=\n]",
    re.DOTALL,
)


def json_keys(text: str) -> Iterator[KeyLine]:
    """Every object key of a valid JSON `text`: its path and its line, from 1, in order.

    A key that is written twice comes twice.
    """
    line = 1
    # One item for each open object or array: the present key, None before it, or the index.
    path: list[str | int | None] = []
    for match in _JSON_MARK.finditer(text):
        mark = match.group()
        if mark == "\n":
            line += 1
        elif mark == "{":
            path.append(None)
        elif mark == "[":
            path.append(0)
        elif mark in "}]":
            path.pop()
        elif mark == ",":
            path[-1] = path[-1] + 1 if isinstance(path[-1], int) else None
        elif path and path[-1] is None:
            path[-1] = json.loads(mark)
            yield tuple(step for step in path if step is not None), line


@dataclass
class _Open:
    """A table, inline table or array that is being read."""

    path: KeyPath
    index: int | None = None
    """In an array: of the present value."""
    key: KeyPath | None = None
    """In a table: of the present value; None before its `=`."""
    names: list[str] = field(default_factory=list)
    """The parts of a key before its `=`, or of a header before its `]`, as they are written."""

    @property
    def value(self) -> KeyPath:
        """The path of the present value."""
        return self.path + ((self.index,) if self.index is not None else self.key or ())

    @property
    def before_key(self) -> bool:
        return self.index is None and self.key is None

    def key_ends(self) -> KeyPath:
        names, self.names = self.names, []
        return tuple(map(_named, names))


def toml_keys(text: str) -> Iterator[KeyLine]:
    """Every key and table header of a TOML `text`: its path and its line, from 1, in order.

    A key that is written twice comes twice; `a.b = 1` gives the path of `a.b` alone. A text
    that is not TOML gives something too.
    """
    line = 1
    stack = [_Open(())]
    header = 0
    last: dict[KeyPath, int] = {}  # of each array of tables, the index of the present one
    for match in _TOML_MARK.finditer(text):
        mark, at = match.group(), stack[-1]
        if match["text"] or match["bare"]:
            if at.before_key:
                at.names.append(mark)
            line += mark.count("\n")
        elif mark == "\n":
            line += 1
            if len(stack) == 1:
                at.key, at.names, header = None, [], 0
        elif mark == "=" and at.before_key:
            at.key = at.key_ends()
            yield at.value, line
        elif mark == "[" and len(stack) == 1 and at.before_key:
            header += 1
        elif mark == "]" and header:
            path = _within(last, at.key_ends())
            if header > 1:
                last[path] = last.get(path, -1) + 1
                path = (*path, last[path])
            yield path, line
            stack, header = [_Open(path)], 0
        elif mark in "[{":
            stack.append(_Open(at.value, index=0 if mark == "[" else None))
        elif mark in "}]" and len(stack) > 1:
            stack.pop()
        elif mark == ",":
            at.key, at.names = None, []
            at.index = None if at.index is None else at.index + 1


def _within(last: dict[KeyPath, int], names: KeyPath) -> KeyPath:
    """The path that a header means: inside an array of tables, of its present table."""
    path: KeyPath = ()
    for position, name in enumerate(names, start=1):
        path = (*path, name)
        if path in last and position < len(names):
            path = (*path, last[path])
    return path


def _named(written: str) -> str:
    if not written.startswith(('"', "'")):
        return written
    try:
        return str(tomllib.loads(f"key = {written}")["key"])
    except tomllib.TOMLDecodeError:
        return written
