"""Where things stand in a JSON text, for errors that people can act on. Pure."""

import json
import re
from collections.abc import Iterator

KeyPath = tuple[str | int, ...]
"""Keys and indexes from the root of a JSON document."""

_MARK = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],\n]')


def key_lines(text: str) -> Iterator[tuple[KeyPath, int]]:
    """Every object key of a valid JSON `text`: its path and its line, from 1, in order.

    A key that is written twice comes twice.
    """
    line = 1
    # One item for each open object or array: the present key, None before it, or the index.
    path: list[str | int | None] = []
    for match in _MARK.finditer(text):
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


def syntax_problem(text: str, error: json.JSONDecodeError) -> str:
    """What is wrong with a JSON text that did not parse, and what to do about it."""
    if not text.strip():
        return 'the file is empty; write at least {"mcpServers": {}}'
    rest = text[error.pos :].lstrip()
    before = text[: error.pos].rstrip()
    if rest.startswith(("//", "/*", "#")):
        return f"{_at(error)}: JSON has no comments; remove this one"
    if "trailing comma" in error.msg or (before.endswith(",") and rest.startswith(("}", "]"))):
        return f"{_at(error)}: a trailing comma; remove the comma before the closing bracket"
    return f"{_at(error)}: not valid JSON: {error.msg}"


def _at(error: json.JSONDecodeError) -> str:
    return f"line {error.lineno}, column {error.colno}"
