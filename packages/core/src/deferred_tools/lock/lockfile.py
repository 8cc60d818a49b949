"""The file that a lock is kept in: JSON of version 1, in ASCII, sorted, whole or refused.

In ASCII, hidden characters are seen by whoever reviews the file.
"""

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from deferred_tools.errors import ConfigurationError
from deferred_tools.lock.locked import PARTS, LockedTool, plain

VERSION = 1
_LARGEST = 64 * 1024 * 1024
# Far above what a server may list, and below what exhausts the stack.
_DEEPEST = 200
_TEXTS = ("server", "title", "description")
_SCHEMAS = ("input_schema", "output_schema")
_RESTORE = (
    "Restore it from your version control, or remove it and accept all tools anew with "
    "`deferred-tools lock`"
)


class _UnfitError(Exception):
    """Why the content of a file is no lock."""


def read(path: str | os.PathLike[str]) -> dict[str, LockedTool]:
    """The tools of a lock file, by qualified id.

    Raises:
        ConfigurationError: It cannot be read, or not every part of it can be relied on.
    """
    name = os.fspath(path)
    try:
        with Path(path).open("rb") as file:
            data = file.read(_LARGEST + 1)
        return _parsed(data)
    except FileNotFoundError:
        raise ConfigurationError(
            f"There is no lock file {name!r}. Write it with `deferred-tools lock`, or give the "
            "path of the one that you have."
        ) from None
    except OSError as error:
        raise ConfigurationError(
            f"The lock file {name!r} cannot be read: {error.strerror}"
        ) from None
    except _UnfitError as error:
        raise ConfigurationError(f"The lock file {name!r} cannot be used: {error}.") from None


def write(path: str | os.PathLike[str], tools: Iterable[LockedTool]) -> None:
    """Put a lock file in the place of the one at `path`, all at once.

    Raises:
        ConfigurationError: It cannot be written, or would be too large; the old one stands.
    """
    data = _written(tools)
    # Through links, so that the file that they lead to is the one replaced.
    place = Path(path).resolve()
    try:
        if len(data) > _LARGEST:
            raise _UnfitError(f"it would have more than {_LARGEST:,} bytes")
        handle, unfinished = tempfile.mkstemp(".tmp", f"{place.name}.", place.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            # Temporary files are private; this one belongs to the project.
            Path(unfinished).chmod(0o644)
            Path(unfinished).replace(place)
        except BaseException:
            with suppress(OSError):
                Path(unfinished).unlink()
            raise
    except (OSError, _UnfitError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise ConfigurationError(
            f"The lock file {os.fspath(path)!r} cannot be written: {why}"
        ) from None


def _written(tools: Iterable[LockedTool]) -> bytes:
    rows = {
        tool.id: {"digest": tool.digest, **{part: getattr(tool, part) for part in PARTS}}
        for tool in tools
    }
    document = {"version": VERSION, "tools": rows}
    return (json.dumps(document, indent=1, sort_keys=True, default=plain) + "\n").encode()


def _parsed(data: bytes) -> dict[str, LockedTool]:
    if len(data) > _LARGEST:
        raise _UnfitError(f"it has more than {_LARGEST:,} bytes. {_RESTORE}")
    try:
        document = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        why = str(error) if isinstance(error, json.JSONDecodeError) else type(error).__name__
        what = f"it is not valid JSON ({why})" if data.strip() else "it is empty"
        raise _UnfitError(f"{what}. {_RESTORE}") from None
    if not isinstance(document, dict) or type(version := document.get("version")) is not int:
        raise _UnfitError(f"it does not say its version, as every lock does. {_RESTORE}")
    if version > VERSION:
        raise _UnfitError(
            f"it is of version {version}, and this deferred-tools knows no more than {VERSION}. "
            "Upgrade deferred-tools"
        )
    rows = document.get("tools")
    if version != VERSION or document.keys() != {"version", "tools"} or not isinstance(rows, dict):
        raise _UnfitError(f"it does not have the shape of version {VERSION}. {_RESTORE}")
    return {id_: _tool(id_, row) for id_, row in rows.items()}


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise _UnfitError(f"the key {twice!r} is written twice in one object. {_RESTORE}")
    return found


def _tool(id_: str, row: Any) -> LockedTool:
    if not _well_formed(row):
        raise _UnfitError(f"the tool {id_!r} does not have the shape of a locked tool. {_RESTORE}")
    tool = LockedTool(id=id_, **{part: row[part] for part in PARTS})
    if tool.digest != row["digest"]:
        raise _UnfitError(
            f"the digest of the tool {id_!r} does not fit what is written of it: it was changed by "
            f"hand, or merged. {_RESTORE}"
        )
    return tool


def _well_formed(row: Any) -> bool:
    return (
        isinstance(row, Mapping)
        and row.keys() == {"digest", *PARTS}
        and not _is_deeper(row, _DEEPEST)
        and all(isinstance(row[part], str) for part in _TEXTS)
        and all(row[part] is None or isinstance(row[part], dict) for part in _SCHEMAS)
        and isinstance(row["annotations"], dict)
    )


def _is_deeper(value: Any, levels: int) -> bool:
    items = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(
        _is_deeper(item, levels - 1) for item in items if isinstance(item, dict | list)
    )
