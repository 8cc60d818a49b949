"""Arguments of a call as a command line gives them: JSON, a file of it, or `key=value`."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

_HINT = "'--args'"


def arguments_of(pairs: Sequence[str], text: str | None) -> dict[str, Any]:
    """The arguments. Values of `pairs` are texts; the tool's schema says what is read from them.

    Args:
        pairs: Each `key=value`.
        text: A JSON object, `@` and a file that holds one, or `@-` for the standard input.

    Raises:
        typer.BadParameter: They cannot be read, or both are given.
    """
    if text is None:
        return _from_pairs(pairs)
    if pairs:
        raise typer.BadParameter(f"give either it or KEY=VALUE ({pairs[0]!r})", param_hint=_HINT)
    try:
        arguments = json.loads(_content(text))
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise typer.BadParameter(
            f"it is not valid JSON: {place}: {error.msg}", param_hint=_HINT
        ) from None
    if not isinstance(arguments, dict):
        raise typer.BadParameter("it must be a JSON object: {...}", param_hint=_HINT)
    return arguments


def _from_pairs(pairs: Sequence[str]) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not (key and equals):
            raise typer.BadParameter(f"{pair!r} is not KEY=VALUE; for JSON use --args")
        if key in arguments:
            raise typer.BadParameter(f"{key!r} is given twice; for a list use --args")
        arguments[key] = value
    return arguments


def _content(text: str) -> str:
    if not text.startswith("@"):
        return text
    if text == "@-":
        return sys.stdin.read()
    try:
        return Path(text[1:]).read_text(encoding="utf-8")
    except OSError as error:
        why = error.strerror
    except UnicodeDecodeError:
        why = "it is not UTF-8"
    raise typer.BadParameter(f"{text[1:]!r} cannot be read: {why}", param_hint=_HINT)
