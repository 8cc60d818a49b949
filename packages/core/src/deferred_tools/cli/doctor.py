"""The command `deferred-tools doctor`: whether each server of a file works, and what to do."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

import typer
from rich.text import Text

from deferred_tools.cli.catalogue import AsJson, ServersFile, opened
from deferred_tools.cli.completion import SomeServers
from deferred_tools.cli.diagnosis import Checked, Problem, Start, clashes, diagnose
from deferred_tools.cli.editors import servers_file
from deferred_tools.cli.output import show, show_json, tell
from deferred_tools.cli.servers import chosen_servers, sound_servers
from deferred_tools.errors import DeferredToolsError
from deferred_tools.hookspecs import hookimpl
from deferred_tools.lint.finding import Severity
from deferred_tools.lock.suspicion import visible
from deferred_tools.settings import Settings
from deferred_tools.sources.base import SourceState, SourceStatus
from deferred_tools.spec import one_line

UNUSABLE = 1
"""Exit code when nothing of the file can be used."""
FOUND = 3
"""Exit code when something of it does not work."""
_SHOWN = 5
_LENGTH = 400
_STYLES = {Severity.ERROR: "red", Severity.WARNING: "yellow"}


def doctor_command(
    servers: SomeServers = None,
    *,
    config_file: ServersFile = None,
    as_json: AsJson = False,
) -> None:
    """Check each server: does it start, list tools, and do models' providers take them?

    Says what is wrong and what to do. Exit codes: 0 all of it works, perhaps with warnings,
    1 the file cannot be used, 2 it cannot run, 3 a server, an entry or a tool does not work.
    """
    try:
        file = servers_file(config_file)
        sound, error = (chosen_servers(file, servers), None) if servers else sound_servers(file)
        sources, watch = tuple(sound), _Stopwatch()
        with opened(sources, Settings(), plugins=[watch]) as toolset:
            registry = toolset.registry
    except DeferredToolsError as failure:
        tell(str(failure))
        raise typer.Exit(UNUSABLE) from failure
    starts = {
        source.name: Start(watch.seconds.get(source.name), source.protocol) for source in sources
    }
    checked = diagnose(registry, starts)
    between = clashes(registry)
    if as_json:
        show_json(_plain(file, error, checked, between))
    else:
        show(_text(checked, between, error))
    failed = error is not None or any(one.failed for one in checked)
    raise typer.Exit(FOUND if failed else 0)


class _Stopwatch:
    """How long each server took until it settled, all of them started at once. A plugin."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self.seconds: dict[str, float] = {}

    @hookimpl
    def deferred_tools_source_changed(self, source: str, state: SourceState) -> None:
        """Take a new state; called in the toolset's own thread."""
        if state.status is not SourceStatus.CONNECTING:
            self.seconds.setdefault(source, time.monotonic() - self._started)


def _plain(
    file: Path,
    error: DeferredToolsError | None,
    checked: Sequence[Checked],
    between: Sequence[Problem],
) -> dict[str, Any]:
    return {
        "file": str(file),
        "error": None if error is None else str(error),
        "servers": [asdict(one) for one in checked],
        "problems": [asdict(problem) for problem in between],
    }


def _text(
    checked: Sequence[Checked], between: Sequence[Problem], error: DeferredToolsError | None
) -> Text:
    text = Text()
    width = max((len(one.server) for one in checked), default=0)
    for one in checked:
        text.append(f"{one.server:<{width}}  ", "bold")
        text.append(f"{_state(one)}\n", "red" if one.failed else "green")
        _append(text, one.problems)
    _append(text, between)
    if error is not None:
        text.append(f"{visible(str(error))}\n", _STYLES[Severity.ERROR])
    counts = Counter(p.severity for p in (*between, *(p for one in checked for p in one.problems)))
    told = "".join(f", {counts[severity]:,} {severity.value}(s)" for severity in Severity)
    wanted = [one for one in checked if one.status != SourceStatus.DISABLED]
    ready = sum(one.status == SourceStatus.READY for one in wanted)
    return text.append(f"{ready:,} of {len(wanted):,} servers ready{told}")


def _state(one: Checked) -> str:
    parts = [one.status]
    if one.status == SourceStatus.READY:
        parts.append(f"{one.tools:,} tools")
    if one.seconds is not None and one.status != SourceStatus.DISABLED:
        parts.append(f"{one.seconds:.1f} s")
    if one.protocol:
        parts.append(f"MCP {one.protocol}")
    return ", ".join(parts)


def _append(text: Text, problems: Sequence[Problem]) -> None:
    """Problems with one cure together, at most `_SHOWN` of them."""
    for (severity, _, cure), group in groupby(problems, key=lambda p: (p.severity, p.code, p.cure)):
        of = list(group)
        for line in _lines(of[:_SHOWN]):
            text.append(f"  {severity.value}: ", _STYLES[severity]).append(f"{line}\n")
        if len(of) > _SHOWN:
            text.append(f"  and {len(of) - _SHOWN:,} more (--json)\n", "dim")
        text.append(f"    {cure}\n", "italic")


def _lines(problems: Sequence[Problem]) -> Iterator[str]:
    for one in problems:
        tool = f"{one_line(one.tool, _LENGTH)}: " if one.tool else ""
        yield tool + one_line(one.problem, _LENGTH)
