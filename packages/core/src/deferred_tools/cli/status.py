"""The command `deferred-tools status`: which tools there are, where calls go, what is missing."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from deferred_tools.cli.catalogue import AsJson, SettingsFile, built, settings_of
from deferred_tools.cli.output import show, show_json, tell
from deferred_tools.errors import DeferredToolsError
from deferred_tools.registered import Absence, Route
from deferred_tools.sources.base import SourceStatus
from deferred_tools.spec import Tier, one_line

CANNOT_BUILD = 1
"""Exit code when there is no registry to tell of."""
LACKING = 3
"""Exit code when there is one, and something that should be there is not."""
_LENGTH = 500
_GOOD = {SourceStatus.READY.value, SourceStatus.DISABLED.value}
_ORDER = [route.value for route in Route]


def status_command(
    *,
    config_file: Annotated[
        Path | None,
        typer.Option(
            "--config",
            metavar="FILE",
            help="The JSON file with your mcpServers. They are started, asked for their tools and "
            "stopped again.",
        ),
    ] = None,
    settings_file: SettingsFile = None,
    functions: Annotated[
        list[str] | None,
        typer.Option(
            "--function",
            metavar="PATH",
            help="A tool of your own code, as module:name. May be given more than once.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show which tools there are, where their calls go, and what is not available and why.

    Exit codes: 0 all is well, 1 the tools cannot be put together,
    2 it cannot run, 3 a tool is withheld or not implemented, or a server is away.
    """
    try:
        registry = built(config_file, settings_of(settings_file), functions or ())
    except DeferredToolsError as error:
        tell(str(error))
        raise typer.Exit(CANNOT_BUILD) from error
    status = registry.status()
    if as_json:
        show_json(status)
    else:
        for part in _parts(status):
            show(part)
    raise typer.Exit(LACKING if _lacks(status) else 0)


def _lacks(status: dict[str, Any]) -> bool:
    """Whether something is not there that nobody switched off."""
    away = any(source["status"] not in _GOOD for source in status["sources"].values())
    return away or any(tool["absence"] != Absence.DISABLED for tool in status["absent"])


def _parts(status: dict[str, Any]) -> Iterator[Table | Text]:
    """Everything for people, the parts that hold nothing left out."""
    # What the host wrote itself is no source that could be away.
    sources = {n: s for n, s in status["sources"].items() if s["tier"] != Tier.CONTRACT}
    if sources:
        rows = [
            [n, s["tier"], s["status"], str(s["tools"]), s["reason"]] for n, s in sources.items()
        ]
        yield _table("Sources", ("name", "tier", "state", "tools", "reason"), rows)
    if status["routes"]:
        tools = sorted(status["routes"], key=lambda tool: _ORDER.index(tool["route"]))
        yield _table(
            "Tools",
            ("name", "route", "goes to", "tags", "available"),
            [
                [
                    tool["name"],
                    tool["route"],
                    f"{tool['source']}/{tool['tool']}",
                    ", ".join(tool["tags"]),
                    "yes" if tool["available"] else "no",
                ]
                for tool in tools
            ],
        )
    if status["absent"]:
        rows = [[tool["name"], tool["absence"], tool["why"]] for tool in status["absent"]]
        yield _table("Not available", ("name", "state", "reason"), rows)
    if status["warnings"]:
        text = Text("Warnings\n", "italic")
        yield text.append(
            "\n".join(f"- {one_line(w, _LENGTH)}" for w in status["warnings"]), "yellow"
        )
    tiers = "".join(f", {n:,} {tier}" for tier, n in status["tiers"].items())
    yield Text(f"{status['tools']:,} tools{tiers}; {len(status['absent']):,} not available")


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A table of text that is data, none of it left out."""
    table = Table(title=title, title_justify="left")
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        table.add_row(*(Text(one_line(cell, _LENGTH)) for cell in row))
    return table
