"""The shape of a value, to tell people what came without telling what it says. Pure."""

import re
from collections.abc import Mapping
from typing import Any

_WORD = re.compile(r"[A-Za-z_]{1,32}[0-9]{0,2}")
_MAX_KEYS = 12
_MAX_DEPTH = 4
_MAX_LENGTH = 300


def shape(value: Any) -> str:
    """Types and key names, such as `{to: text, items: [3 x {id: number}]}`; at most 300 characters.

    A key may be somebody's data: only words as developers write them are shown, and twelve at most.
    """
    return _shape(value, _MAX_DEPTH)


def _shape(value: Any, depth: int) -> str:
    if isinstance(value, Mapping):
        text = f"{{{', '.join(_members(value, depth)) if depth or not value else '…'}}}"
    elif isinstance(value, list | tuple):
        text = (
            f"[{len(value)} x {_shape(value[0], depth - 1) if depth else '…'}]" if value else "[]"
        )
    else:
        text = _scalar(value)
    return text if len(text) <= _MAX_LENGTH else text[: _MAX_LENGTH - 1] + "…"


def _members(value: Mapping[Any, Any], depth: int) -> list[str]:
    words = [key for key in value if isinstance(key, str) and _WORD.fullmatch(key)][:_MAX_KEYS]
    shown = [f"{key}: {_shape(value[key], depth - 1)}" for key in words]
    hidden = len(value) - len(words)
    return [*shown, f"{hidden} more"] if hidden else shown


def _scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "text" if isinstance(value, str) else type(value).__name__
