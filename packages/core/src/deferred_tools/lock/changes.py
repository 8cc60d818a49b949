"""What changed between two locks, tool by tool, and what each change means. Pure.

A tool that goes by another name is one that was removed and one that was added.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from deferred_tools.lock.demands import Effect
from deferred_tools.lock.locked import PARTS, LockedTool, canonical
from deferred_tools.lock.schema_change import differences
from deferred_tools.lock.suspicion import suspicions
from deferred_tools.lock.tools_lock import ToolsLock


class Kind(StrEnum):
    """What a change means, from the most harmless to the worst."""

    DOCS = "docs"
    """Only texts for people and models changed."""
    COMPATIBLE = "compatible"
    """Every call that was right still is, and every result that comes was to be expected."""
    ADDED = "added"
    REMOVED = "removed"
    ANNOTATIONS = "annotations"
    """What the server says of its effects, such as that it only reads."""
    SERVER = "server"
    """Another command or address, so perhaps another program."""
    BREAKING = "breaking"
    """A schema was narrowed, or it cannot be shown that it was not."""
    SUSPICIOUS = "suspicious"
    """A new text looks as if it were to lead a model astray."""


_SEVERITY = {kind: place for place, kind in enumerate(Kind)}
_OF_INPUT = {
    Effect.DOCS: Kind.DOCS,
    Effect.NEW: Kind.COMPATIBLE,
    Effect.MORE: Kind.COMPATIBLE,
    Effect.LESS: Kind.BREAKING,
    Effect.GONE: Kind.BREAKING,
    Effect.UNKNOWN: Kind.BREAKING,
}
# Of a result, whoever reads it knew how to take what fitted before, and no more.
_OF_OUTPUT = {**_OF_INPUT, Effect.MORE: Kind.BREAKING, Effect.LESS: Kind.COMPATIBLE}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that changed."""

    kind: Kind
    where: str
    """Keys down to it, between dots, or "" for the whole tool. May hold text of the server."""
    what: str
    """May hold text of the server, as JSON in ASCII."""


@dataclass(frozen=True, slots=True)
class Change:
    """One tool that is not as it was."""

    id: str
    before: LockedTool | None
    after: LockedTool | None
    findings: tuple[Finding, ...]

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """What the change means, the worst first."""
        kinds = {finding.kind for finding in self.findings}
        return tuple(sorted(kinds, key=_SEVERITY.__getitem__, reverse=True))


def changes(old: ToolsLock, new: ToolsLock) -> tuple[Change, ...]:
    """Every tool that is not the same in both, by qualified id."""
    found = []
    for id_ in sorted({*old.tools, *new.tools}):
        before, after = old.tools.get(id_), new.tools.get(id_)
        if before is None or after is None or before.digest != after.digest:
            found.append(Change(id_, before, after, tuple(_findings(before, after))))
    return tuple(found)


def _findings(before: LockedTool | None, after: LockedTool | None) -> Iterator[Finding]:
    if after is None:
        yield Finding(Kind.REMOVED, "", "is not there any more")
        return
    if before is None:
        yield Finding(Kind.ADDED, "", "is new")
    else:
        for part in after.changed_since(before):
            yield from _of_part(part, getattr(before, part), getattr(after, part))
    yield from _suspicious(before, after)


def _of_part(part: str, old: Any, new: Any) -> Iterator[Finding]:
    match part:
        case "server":
            yield Finding(Kind.SERVER, part, "is reached by another command or address")
        case "annotations":
            yield from _annotations(old, new)
        case "input_schema" | "output_schema":
            kinds = _OF_INPUT if part == "input_schema" else _OF_OUTPUT
            found = differences(old, new)
            for one in found:
                yield Finding(kinds[one.effect], ".".join((part, *one.path)), one.effect)
            if not found:
                yield Finding(Kind.COMPATIBLE, part, "says the same in another way")
        case _:
            yield Finding(Kind.DOCS, part, "reads differently")


def _annotations(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[Finding]:
    for key in dict.fromkeys((*new, *old)):
        was, now = (canonical(one[key]) if key in one else "nothing" for one in (old, new))
        if was != now:
            kind = Kind.DOCS if key == "title" else Kind.ANNOTATIONS
            yield Finding(kind, f"annotations.{key}", f"{was} → {now}")


def _suspicious(before: LockedTool | None, after: LockedTool) -> Iterator[Finding]:
    known = {text for _, text in _texts(before)} if before else set()
    for where, text in _texts(after):
        if text not in known:
            known.add(text)
            for sign in suspicions(text):
                yield Finding(Kind.SUSPICIOUS, where, sign)


def _texts(tool: LockedTool) -> Iterator[tuple[str, str]]:
    """Every text of a tool, keys and the tool's own name too, and where it stands."""
    yield "id", tool.id
    todo: list[tuple[str, Any]] = [(part, getattr(tool, part)) for part in reversed(PARTS)]
    while todo:
        where, value = todo.pop()
        if isinstance(value, str):
            yield where, value
        elif isinstance(value, Mapping):
            for key, item in value.items():
                yield where, key
                todo.append((f"{where}.{key}", item))
        elif isinstance(value, list | tuple):
            todo += ((f"{where}.{at}", item) for at, item in enumerate(value))
