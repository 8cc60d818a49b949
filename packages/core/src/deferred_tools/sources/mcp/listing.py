"""What a server offers: its list read page by page, within limits.

One bad tool costs only itself, and one bad page only what comes after it; whatever is left
out, cut or dropped is said.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp import MCPError
from mcp.types import METHOD_NOT_FOUND

from deferred_tools.limits import Limits
from deferred_tools.sources.mcp.admission import UnfitError, admit
from deferred_tools.sources.mcp.connection import Link
from deferred_tools.sources.mcp.server import McpServer
from deferred_tools.sources.mcp.way import DeadlineError, LinkError, deadline
from deferred_tools.spec import ToolSpec

_WARNINGS = 100


@dataclass(frozen=True, slots=True)
class Listing:
    """The tools of one server in its order, and what was noticed while reading them."""

    specs: tuple[ToolSpec, ...] = ()
    warnings: tuple[str, ...] = ()
    """Without secrets; each names the server, and the tool where there is one."""


class ListError(Exception):
    """The server's answer holds no list."""


LIST_ERRORS = (DeadlineError, LinkError, MCPError, ListError)
"""What reading a list may raise."""


async def list_tools(link: Link, server: McpServer, limits: Limits) -> Listing:
    """Read the whole list.

    Raises:
        Exception: One of `LIST_ERRORS`: the first page could not be read.
    """
    reading = _Reading(server, limits)
    cursors: set[str] = set()
    cursor: str | None = None
    while True:
        try:
            page = await _page(link, cursor, limits)
        except LIST_ERRORS as error:
            if isinstance(error, MCPError) and error.code == METHOD_NOT_FOUND and not cursors:
                reading.warn("it offers no tools")
                break
            if cursor is None:
                raise
            reading.warn(f"page {len(cursors) + 1} of its list could not be read: {error}")
            break
        # Off the event loop: the schemas of a large list take a while.
        await anyio.to_thread.run_sync(reading.add, page["tools"], abandon_on_cancel=True)
        cursor = page.get("nextCursor")
        if reading.full or not isinstance(cursor, str) or not cursor:
            break
        if cursor in cursors:
            reading.warn("its list repeats itself; the rest was left out")
            break
        cursors.add(cursor)
        if len(cursors) >= limits.server_pages:
            reading.warn(
                f"its list has more than {limits.server_pages} pages; the rest was left out "
                "(`Limits.server_pages`)"
            )
            break
    return reading.listing()


async def _page(link: Link, cursor: str | None, limits: Limits) -> Mapping[str, Any]:
    with deadline(limits.list_seconds, "list_seconds", "`tools/list`"):
        page = await link.request("tools/list", {} if cursor is None else {"cursor": cursor})
    if not isinstance(page.get("tools"), list):
        raise ListError("its answer to `tools/list` holds no list of tools")
    return page


@dataclass(slots=True)
class _Reading:
    """A list in the making."""

    server: McpServer
    limits: Limits
    full: bool = False
    """Set when a limit is reached and nothing more is taken."""
    _specs: dict[str, ToolSpec] = field(default_factory=dict)
    _warnings: list[str] = field(default_factory=list)
    _count: int = 0
    _bytes: int = 0

    def add(self, tools: Sequence[object]) -> None:
        """Take the tools of one page."""
        for raw in tools:
            self._count += 1
            self._bytes += _size(raw)
            for limit, value in (("server_tools", self._count), ("list_bytes", self._bytes)):
                if value > getattr(self.limits, limit):
                    self.warn(f"its list exceeds `Limits.{limit}`; the rest was left out")
                    self.full = True
                    return
            self._take(raw)

    def warn(self, what: str, tool: str = "") -> None:
        """Note something of the server, or of one of its tools."""
        of = f"server {self.server.name!r}{tool}: "
        self._warnings.append(of + self.server.quote(what))

    def listing(self) -> Listing:
        """What was read; no more warnings than anyone would read."""
        shown = self._warnings[:_WARNINGS]
        if more := len(self._warnings) - len(shown):
            shown.append(f"server {self.server.name!r}: and {more} more warnings")
        return Listing(tuple(self._specs.values()), tuple(shown))

    def _take(self, raw: object) -> None:
        name = raw.get("name") if isinstance(raw, Mapping) else None
        if not isinstance(name, str) or not name:
            tool = f", tool number {self._count}"
        elif self.server.admits(name):
            tool = f", tool {self.server.quote(name)!r}"
        else:
            return
        try:
            spec, notes = admit(raw, self.server, self.limits)
        except UnfitError as error:
            self.warn(f"left out: {error}", tool)
            return
        for note in notes:
            self.warn(note, tool)
        if spec.tool in self._specs:
            self.warn("left out: another tool of this server has the same name", tool)
        else:
            self._specs[spec.tool] = spec


def _size(raw: object) -> int:
    try:
        return len(json.dumps(raw, ensure_ascii=False).encode("utf-8", "replace"))
    except RecursionError:
        return 0  # Deeper than any limit: what is kept of a tool is not so deep.
