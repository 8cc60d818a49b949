"""The scene of a large catalogue: real definitions of real servers, with no server behind them."""

import gzip
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deferred_tools.errors import ConfigurationError
from deferred_tools.limits import Limits
from deferred_tools.sources.base import Report, SourceState, SourceStatus, ToolResult
from deferred_tools.sources.mcp.admission import UnfitError, admit
from deferred_tools.sources.mcp.server import Command, McpServer
from deferred_tools.spec import Tier, ToolSpec, namespace
from langchain_deferred_tools.demo.scene import Scene, Step

_VARIABLE = "DEFERRED_TOOLS_SHARED"
_FILE = Path("corpus", "mcp_tools.jsonl.gz")


def corpus_scene(environ: Mapping[str, str]) -> Scene:
    """Every definition of the corpus, a source for each server.

    Raises:
        ConfigurationError: The corpus is not where it is looked for, or cannot be read.
    """
    rows = _rows_by_server(find_corpus(environ))
    return Scene(
        sources=tuple(CorpusSource(name, of_it) for name, of_it in rows.items()),
        steps=(_STEP,),
        notes=("No server stands behind these tools: every call is refused, and says so.",),
    )


def find_corpus(environ: Mapping[str, str]) -> Path:
    """The corpus file, in the folder that the environment names, or beside the project.

    Raises:
        ConfigurationError: It is not there.
    """
    given = environ.get(_VARIABLE)
    here = Path.cwd()
    folders = [Path(given)] if given else [at.parent / "shared" for at in (here, *here.parents)]
    for folder in folders:
        if (folder / _FILE).is_file():
            return folder / _FILE
    looked = os.fspath(folders[0] / _FILE)
    raise ConfigurationError(
        f"there is no corpus of tool definitions: looked for {looked!r}"
        f"{'' if given else ' and beside every folder above'}. Set {_VARIABLE} to the folder "
        f"that holds {_FILE.as_posix()!r}, or run the demo without `--tools corpus`"
    )


class CorpusSource:
    """One server of the corpus: its definitions, as that server once sent them."""

    tier = Tier.MCP

    def __init__(self, server: str, rows: list[object]) -> None:
        self.name = namespace(server)
        self._server = McpServer(name=server, namespace=self.name, at=Command(command=""))
        self._rows = rows

    async def run(self, report: Report, limits: Limits) -> None:
        """Report the definitions that are sound, once."""
        tools, warnings = [], []
        for row in self._rows:
            try:
                spec, notes = admit(row, self._server, limits)
            except UnfitError as error:
                warnings.append(f"server {self.name!r}: a tool is left out: {error}")
            else:
                tools.append(DefinitionOnly(spec))
                warnings += [f"server {self.name!r}, tool {spec.tool!r}: {n}" for n in notes]
        report(SourceState(status=SourceStatus.READY, tools=tuple(tools), warnings=tuple(warnings)))


@dataclass(frozen=True, slots=True)
class DefinitionOnly:
    """A tool that can be found and bound, and refuses to run."""

    spec: ToolSpec

    async def call(self, arguments: dict[str, Any]) -> ToolResult:
        """Say that there is nothing to run."""
        text = (
            f"Refused: {self.spec.name} is only a definition in this demo. The server "
            f"{self.spec.source!r} is not connected, so nothing was done."
        )
        return ToolResult(content=({"type": "text", "text": text},), is_error=True)


def _rows_by_server(file: Path) -> dict[str, list[object]]:
    found: dict[str, list[object]] = {}
    try:
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                found.setdefault(row["server"], []).append(row)
    except (OSError, EOFError, ValueError, LookupError) as error:
        told = f"{type(error).__name__}: {error}"
        raise ConfigurationError(f"the corpus {os.fspath(file)!r} cannot be read: {told}") from None
    return found


_STEP = Step(
    source="github",
    wish='Please create an issue "Search is slow" in the GitHub repository octo/demo.',
    query="create an issue in a GitHub repository",
    tool="github__create_issue",
    arguments={"owner": "octo", "repo": "demo", "title": "Search is slow"},
    tell="The issue exists: {}".format,
    refused=True,
)
