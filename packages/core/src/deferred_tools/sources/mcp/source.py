"""One MCP server as a source of tools: kept connected, by one task, for as long as it runs."""

from dataclasses import dataclass

import anyio
import anyio.lowlevel

from deferred_tools.limits import Limits
from deferred_tools.sources.base import Report, SourceState, SourceStatus
from deferred_tools.sources.mcp.backoff import LONGEST_SECONDS, delays
from deferred_tools.sources.mcp.connection import Link, connect
from deferred_tools.sources.mcp.listing import LIST_ERRORS, Listing, list_tools
from deferred_tools.sources.mcp.reasons import Failure, explain
from deferred_tools.sources.mcp.server import Command, McpServer
from deferred_tools.sources.mcp.stdio import ChildProcess
from deferred_tools.sources.mcp.streamable_http import HttpEndpoint
from deferred_tools.sources.mcp.tool import Line, McpTool
from deferred_tools.sources.mcp.way import Way
from deferred_tools.spec import Tier

# A server that tells of changes without end is read no more than three times a second.
_RELIST_SECONDS = 0.35
# A connection that held this long was sound: the next trouble starts with a short wait.
_SOUND_SECONDS = 10.0
_CLOSED = "the connection was closed"


@dataclass(frozen=True, slots=True)
class _Life:
    """What became of one connection."""

    failure: Failure
    seconds: float
    """How long its tools could be called."""


class McpSource:
    """The tools of one MCP server.

    Connects within `Limits`, reads the list, then holds the connection: follows changes of
    the list, and connects anew, with growing waits, when the server goes away.
    """

    def __init__(self, server: McpServer) -> None:
        self._server = server
        self._limits = Limits()
        self._line = Line(server)
        self._tools: tuple[McpTool, ...] = ()
        self._warnings: tuple[str, ...] = ()
        self._told: SourceState | None = None

    def __repr__(self) -> str:
        return f"McpSource({self._server.name!r})"

    @property
    def name(self) -> str:
        """The server's namespace."""
        return self._server.namespace

    @property
    def tier(self) -> Tier:
        """Somebody else's tools."""
        return Tier.MCP

    @property
    def identity(self) -> str:
        """A hash of which server this is; secrets make no difference to it."""
        return self._server.identity

    async def run(self, report: Report, limits: Limits) -> None:
        """Offer the server's tools until cancelled; then nothing of it is left running."""
        self._limits = limits
        self._told = None
        if self._server.disabled:
            self._tell(report, SourceStatus.DISABLED, "disabled in its configuration")
            return
        # The task group turns a `Task.cancel()` into a cancellation that waits for children to
        # be ended: nothing else keeps one out of a shielded scope.
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._keep_connected, report)

    async def _keep_connected(self, report: Report) -> None:
        wait, legacy, reason = delays(), False, ""
        try:
            while True:
                self._tell(report, SourceStatus.CONNECTING, reason)
                life = await self._live(report, legacy=legacy)
                if life.failure.died_on_discover and not legacy:
                    legacy = True
                    continue
                legacy = legacy and life.seconds > 0
                status, reason = life.failure.status, life.failure.reason
                self._line.down(reason)
                self._tell(report, status, reason)
                if life.seconds >= _SOUND_SECONDS:
                    wait = delays()
                # Credentials do not mend themselves, and some servers lock out who insists.
                refused = status is SourceStatus.AUTH_REQUIRED
                await anyio.sleep(LONGEST_SECONDS if refused else next(wait))
        finally:
            self._line.down("it is closed")

    async def _live(self, report: Report, *, legacy: bool) -> _Life:
        """One connection from its first byte to its last."""
        way = self._way()
        ready: float | None = None
        error: ExceptionGroup[Exception] | None = None
        try:
            # Also makes one group of whatever goes wrong below, and keeps it from going further.
            async with anyio.create_task_group() as tasks:
                async with connect(way, self._limits, legacy=legacy) as link:
                    self._take(await list_tools(link, self._server, self._limits))
                    self._line.up(link)
                    ready = anyio.current_time()
                    self._tell(report, SourceStatus.READY)
                    tasks.start_soon(link.notice_changes)
                    tasks.start_soon(self._follow_changes, link, report)
                    await link.lost.wait()
                    self._line.down(_CLOSED)
                tasks.cancel_scope.cancel()
        except ExceptionGroup as group:
            # Trouble that came of being cancelled would hide that.
            await anyio.lowlevel.checkpoint_if_cancelled()
            error = group
        finally:
            self._line.down(_CLOSED)
        seconds = 0.0 if ready is None else anyio.current_time() - ready
        return _Life(explain(error, self._server, way), seconds)

    async def _follow_changes(self, link: Link, report: Report) -> None:
        """Read the list again when the server says so; a burst of changes is read once."""
        wait = delays()
        while True:
            await link.changed.wait()
            link.changed.clear()
            try:
                listing = await list_tools(link, self._server, self._limits)
            except LIST_ERRORS as error:
                why = self._server.quote(str(error))
                self._warn(f"its changed list could not be read, so the old one stands: {why}")
                # Else the last change would never be seen.
                link.changed.set()
            else:
                before = self._tools
                self._take(listing)
                if self._tools != before:
                    wait = delays()
            if not link.lost.is_set():
                self._tell(report, SourceStatus.READY)
            # Longer and longer when there was nothing new: some servers tell of changes always.
            await anyio.sleep(max(_RELIST_SECONDS, next(wait)))

    def _take(self, listing: Listing) -> None:
        limit = self._server.timeout or self._limits.call_seconds
        self._tools = tuple(McpTool(spec, limit, self._line) for spec in listing.specs)
        self._warnings = listing.warnings

    def _warn(self, what: str) -> None:
        warning = f"server {self._server.name!r}: {what}"
        if warning not in self._warnings:
            self._warnings += (warning,)

    def _tell(self, report: Report, status: SourceStatus, reason: str = "") -> None:
        """Report, unless it is what was reported last."""
        state = SourceState(
            status=status, tools=self._tools, reason=reason, warnings=self._warnings
        )
        if state != self._told:
            self._told = state
            report(state)

    def _way(self) -> Way:
        server, size = self._server, self._limits.list_bytes
        if isinstance(server.at, Command):
            return ChildProcess(server, server.at, frame_bytes=size)
        return HttpEndpoint(server, server.at, body_bytes=size)
