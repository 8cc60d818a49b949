"""What changed since tools were accepted: asked of the servers, shown, and turned to exit codes."""

import difflib
import json
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from deferred_tools.cli.catalogue import started
from deferred_tools.errors import ConfigurationError
from deferred_tools.lock import ToolsLock
from deferred_tools.lock.changes import Change, Finding, Kind
from deferred_tools.lock.locked import PARTS, LockedTool, plain
from deferred_tools.lock.suspicion import visible
from deferred_tools.sources.base import SourceStatus
from deferred_tools.spec import SEPARATOR, Tier, one_line

_LENGTH = 200
_WIDTH = 100
_DIFF_LINES = 40
_AROUND = 2
_SETTLED = {SourceStatus.READY, SourceStatus.DISABLED}
_STYLES = {Kind.BREAKING: "bold red", Kind.SUSPICIOUS: "bold red"}

ServersFile = Annotated[
    Path,
    typer.Option(
        "--config",
        metavar="FILE",
        help="The JSON file with your mcpServers. They are started, asked for their tools and "
        "stopped again.",
    ),
]
LockFile = Annotated[
    Path, typer.Option("--lock", metavar="FILE", help="The lock file of accepted tools.")
]
Partial = Annotated[
    bool,
    typer.Option("--partial", help="Take tools of servers that are away as they were accepted."),
]


def offered(config: Path, accepted: ToolsLock, *, partial: bool) -> ToolsLock:
    """What the servers offer now, as a lock that accepts all of it.

    Tools of servers that are switched off stay as they are `accepted`, and with `partial` those
    of servers that are away.

    Raises:
        ConfigurationError: The file cannot be used, or a server is away and not `partial`.
    """
    views = [view for view in started(config).sources.values() if view.tier is Tier.MCP]
    silent = {view.name for view in views if view.state.status is not SourceStatus.READY}
    away = [view.name for view in views if view.state.status not in _SETTLED]
    if away and not partial:
        raise ConfigurationError(
            f"These servers could not be asked for their tools: {', '.join(away)}. Put that right, "
            "or use --partial to take their tools as they were accepted."
        )
    specs = [
        replace(tool.spec, source=view.name)
        for view in views
        if view.name not in silent
        for tool in view.state.tools
    ]
    now = ToolsLock.of(specs, {view.name: view.identity for view in views})
    return now.taking(accepted, [i for i in accepted.tools if i.split(SEPARATOR)[0] in silent])


def as_text(found: Sequence[Change], tools: int) -> Text:
    """The changes for people, and how many of how many `tools` there are."""
    text = Text()
    for change in found:
        text.append(f"{one_line(change.id, _LENGTH)}: ", "bold")
        text.append(f"{', '.join(change.kinds)}\n", _STYLES.get(change.kinds[0], "yellow"))
        text.append("".join(f"  {_told(one)}\n" for one in change.findings if one.where))
        lines = _shown_diff(change)
        text.append("".join(f"    {line}\n" for line in lines[:_DIFF_LINES]), "dim")
        if len(lines) > _DIFF_LINES:
            text.append(f"    and {len(lines) - _DIFF_LINES:,} more lines\n", "dim")
    counts = Counter(change.kinds[0] for change in found)
    told = "".join(f", {counts[kind]:,} {kind}" for kind in reversed(Kind) if counts[kind])
    return text.append(f"{len(found):,} changed of {tools:,} tools{told}")


def as_rows(found: Sequence[Change]) -> list[dict[str, Any]]:
    """The changes for programs."""
    return [
        {
            "tool": change.id,
            "kinds": list(change.kinds),
            "findings": [asdict(finding) for finding in change.findings],
            "diff": list(_diff(change)),
        }
        for change in found
    ]


def _told(finding: Finding) -> str:
    where, what = one_line(finding.where, _LENGTH), one_line(finding.what, _LENGTH)
    return f"{finding.kind}: {where} {what}"


def _shown_diff(change: Change) -> list[str]:
    """Nothing of a tool that came or went whole, unless somebody must look at it."""
    whole = change.before is None or change.after is None
    return [] if whole and Kind.SUSPICIOUS not in change.kinds else list(_diff(change))


def _diff(change: Change) -> Iterator[str]:
    before, after = _lines(change.before), _lines(change.after)
    for line in difflib.unified_diff(before, after, n=_AROUND, lineterm=""):
        if not line.startswith(("---", "+++")):
            yield "..." if line.startswith("@@") else line


def _lines(tool: LockedTool | None) -> list[str]:
    """A tool to be read and compared: short lines, in which everything shows."""
    lines: list[str] = []
    for part in PARTS if tool else ():
        value = getattr(tool, part)
        if not isinstance(value, str):
            value = json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, default=plain)
        lines.append(f"{part}:")
        for line in visible(value).splitlines():
            indent = " " * (len(line) - len(line.lstrip()) + 1)
            lines += textwrap.wrap(line, _WIDTH, initial_indent=" ", subsequent_indent=indent)
    return lines
