"""Files of settings: YAML, TOML or JSON, read whole into what JSON can hold, or refused.

Knows nothing of what a document means: that is for `problems.validated`, with the origin.
"""

import json
import math
import os
import re
import tomllib
from collections.abc import Iterable, Iterator
from datetime import date, time
from pathlib import Path
from typing import Any

from deferred_tools.documents.origin import KeyLine, KeyPath, Origin, Problem, UnreadableError
from deferred_tools.documents.positions import json_keys, toml_keys
from deferred_tools.documents.problems import kind_of
from deferred_tools.errors import ConfigurationError

_MAX_DEPTH = 100
# A few lines of YAML with aliases can stand for billions.
_MAX_VALUES = 500_000
_TOO_DEEP = f"nested deeper than {_MAX_DEPTH} levels; make it flatter"
_TOML_MESSAGE = re.compile(r"(.*) \(at ([^()]*)\)", re.DOTALL)


def read_document(
    path: str | os.PathLike[str], *, suffix: str | None = None
) -> tuple[dict[str, Any], Origin]:
    """The mapping that a file holds, and where its keys stand.

    Keys that are written twice are left to `Origin.repeated`, to be told with all else; only
    in TOML they are refused here. Dates are refused: JSON has none, and quotes make them texts.

    Args:
        path: `.yaml`, `.yml`, `.toml` or `.json`, in UTF-8.
        suffix: Read it as if it had this suffix.

    Raises:
        ConfigurationError: It cannot be read, or is no mapping; says where and why.
    """
    file = os.fspath(path)
    read = _READERS.get(suffix or Path(path).suffix.lower())
    if read is None:
        known = ", ".join(_READERS)
        raise ConfigurationError(f"{file!r} has none of the suffixes that can be read: {known}")
    try:
        document, keys = read(_text(file))
        if not isinstance(document, dict):
            cure = f"must be an object (keys and their values), not {kind_of(document)}"
            raise UnreadableError(cure)
        misfits = list(_misfits(document))
    except UnreadableError as error:
        raise ConfigurationError(f"{file}: {error}") from None
    except RecursionError:
        raise ConfigurationError(f"{file}: {_TOO_DEEP}") from None
    origin = Origin(file, tuple(keys))
    if misfits:
        raise origin.error(misfits)
    return document, origin


def _text(file: str) -> str:
    try:
        text = Path(file).read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        cure = "create it, or give the path of the file that you mean"
        raise ConfigurationError(f"there is no file {file!r}; {cure}") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        cure = f"line {line} is not UTF-8; save it as UTF-8"
        raise ConfigurationError(f"{file!r} cannot be read: {cure}") from None
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise ConfigurationError(f"{file!r} cannot be read: {why}") from None
    if not text.strip():
        raise UnreadableError("the file is empty; write what it is to hold")
    return text


def _json(text: str) -> tuple[object, Iterable[KeyLine]]:
    try:
        return json.loads(text), json_keys(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise UnreadableError(f"{place}: {_json_problem(text, error)}") from None
    except ValueError:
        raise UnreadableError("holds a number of too many digits") from None


def _json_problem(text: str, error: json.JSONDecodeError) -> str:
    rest = text[error.pos :].lstrip()
    before = text[: error.pos].rstrip()
    if rest.startswith(("//", "/*", "#")):
        return "JSON has no comments; remove this one"
    if "trailing comma" in error.msg or (before.endswith(",") and rest.startswith(("}", "]"))):
        return "a trailing comma; remove the comma before the closing bracket"
    return f"not valid JSON: {error.msg}"


def _toml(text: str) -> tuple[object, Iterable[KeyLine]]:
    try:
        return tomllib.loads(text), toml_keys(text)
    except tomllib.TOMLDecodeError as error:
        written = Origin(keys=tuple(toml_keys(text)))
        # The parser takes no key twice, but tells one of its lines at most.
        if str(error).startswith("Cannot") and written.repeated:
            path, problem = written.repeated[0]
            raise UnreadableError(f"{written.where(path)}: {problem}") from None
        message = _TOML_MESSAGE.fullmatch(str(error))
        told, place = message.groups() if message else (str(error), "somewhere")
        raise UnreadableError(f"{place}: not valid TOML: {told}") from None
    except ValueError:
        raise UnreadableError("holds a number of too many digits") from None


def _yaml(text: str) -> tuple[object, Iterable[KeyLine]]:
    try:
        # Here, because PyYAML is an extra, and nobody else is to pay for loading it.
        from deferred_tools.documents.yaml_document import read_yaml  # noqa: PLC0415
    except ModuleNotFoundError:
        cure = 'run `pip install "deferred-tools[yaml]"`, or write TOML or JSON'
        raise UnreadableError(f"PyYAML is not installed; {cure}") from None
    return read_yaml(text, _MAX_DEPTH)


_READERS = {".yaml": _yaml, ".yml": _yaml, ".toml": _toml, ".json": _json}


def _misfits(document: dict[str, Any]) -> Iterator[Problem]:
    """The values that JSON has not.

    Raises:
        UnreadableError: There are too many values, or they are nested too deeply.
    """
    left = _MAX_VALUES
    rest: list[tuple[KeyPath, Any]] = [((), document)]
    while rest:
        path, whole = rest.pop()
        if len(path) > _MAX_DEPTH:
            raise UnreadableError(_TOO_DEEP)
        items = whole.items() if isinstance(whole, dict) else enumerate(whole)
        for key, value in items:
            left -= 1
            if left < 0:
                raise UnreadableError(f"stands for more than {_MAX_VALUES} values; make it smaller")
            if isinstance(value, dict | list):
                rest.append(((*path, key), value))
            elif isinstance(value, float) and not math.isfinite(value):
                yield (*path, key), "must be a finite number"
            elif isinstance(value, date | time):
                yield (*path, key), "is a date or a time; put quotes around it"
