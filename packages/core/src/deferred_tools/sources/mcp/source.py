"""One MCP server as a source of tools: kept connected, by one task, for as long as it runs."""

from dataclasses import dataclass, replace

import anyio
import anyio.lowlevel

from deferred_tools.limits import Limits
from deferred_tools.sources.base import Report, SourceState, SourceStatus
from deferred_tools.sources.mcp.backoff import LONGEST_SECONDS, pause, spread
from deferred_tools.sources.mcp.connection import Link
from deferred_tools.sources.mcp.handshake import connect
from deferred_tools.sources.mcp.listing import LIST_ERRORS, list_tools
from deferred_tools.sources.mcp.oauth import OAuth
from deferred_tools.sources.mcp.oauth.account import Account, account_of
from deferred_tools.sources.mcp.reasons import Failure, explain
from deferred_tools.sources.mcp.server import Command, McpServer
from deferred_tools.sources.mcp.stdio import ChildProcess
from deferred_tools.sources.mcp.streamable_http import HttpEndpoint
from deferred_tools.sources.mcp.tool import Line, McpTool
from deferred_tools.sources.mcp.way import DeadlineError, Way
from deferred_tools.spec import Tier

# A list is read no more than three times a second, and less often when changes do not end; what
# changed last is seen soon all the same.
_RELIST_SECONDS = 0.35
_STORM_SECONDS = 1.5
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

    def __init__(self, server: McpServer, oauth: OAuth | None = None) -> None:
        self._server = server
        self._oauth = oauth or OAuth()
        self._account: Account | None = None
        self._limits = Limits()
        self._line = Line(server)
        self._tools: tuple[McpTool, ...] = ()
        self._warnings: tuple[str, ...] = ()
        self._told: SourceState | None = None
        self.protocol = ""
        """The version of MCP that its latest connection speaks; "" before there is one."""

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
        self._account = account_of(self._server, self._oauth)
        # The task group turns a `Task.cancel()` into a cancellation that waits for children to
        # be ended: nothing else keeps one out of a shielded scope.
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._keep_connected, report)

    async def _keep_connected(self, report: Report) -> None:
        failures, legacy = 0, False
        self._tell(report, SourceStatus.CONNECTING)
        try:
            while True:
                life = await self._live(report, legacy=legacy)
                if life.failure.died_on_discover and not legacy:
                    legacy = True
                    continue
                legacy = legacy and life.seconds > 0
                failures = 1 if life.seconds >= _SOUND_SECONDS else failures + 1
                failure, seconds = self._verdict(life.failure, failures)
                # Told until it is ready again: that it is being tried changes nothing.
                self._line.down(failure.reason)
                self._tell(report, failure.status, failure.reason)
                if failure.status is SourceStatus.AUTH_REQUIRED and self._account is not None:
                    await self._regain(report, self._account, seconds)
                else:
                    await anyio.sleep(seconds)
        finally:
            self._line.down("it is closed")

    async def _regain(self, report: Report, account: Account, seconds: float) -> None:
        """Return when there may be a good token, and at the latest after `seconds`."""
        before = account.trouble
        if await account.ask():
            return
        if account.trouble is not before:
            reason = self._server.quote(str(account.trouble))
            self._tell(report, SourceStatus.AUTH_REQUIRED, reason)
        await account.wait(seconds)

    def _verdict(self, failure: Failure, failures: int) -> tuple[Failure, float]:
        """What to tell after so many failures in a row, and how long to wait."""
        if failure.status is SourceStatus.AUTH_REQUIRED:
            # Credentials do not mend themselves, and some servers lock out who insists.
            return failure, LONGEST_SECONDS
        most, rare = self._limits.failures_in_a_row, self._limits.retry_failed_seconds
        if failures < most:
            return failure, pause(failures)
        told = (
            f"{failure.reason}; it has failed {most} times in a row and is tried again every "
            f"{rare:g} s (`Limits.retry_failed_seconds`)"
        )
        return replace(failure, status=SourceStatus.FAILED, reason=told), spread(rare)

    async def _live(self, report: Report, *, legacy: bool) -> _Life:
        """One connection from its first byte to its last."""
        way = self._way()
        ready: float | None = None
        error: ExceptionGroup[Exception] | None = None
        try:
            # Also makes one group of whatever goes wrong below, and keeps it from going further.
            async with anyio.create_task_group() as tasks:
                async with connect(way, self._limits, legacy=legacy) as link:
                    self.protocol = link.protocol
                    await self._read(link, way)
                    self._line.up(link)
                    ready = anyio.current_time()
                    self._tell(report, SourceStatus.READY)
                    tasks.start_soon(link.notice_changes)
                    tasks.start_soon(self._follow_changes, link, way, report)
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

    async def _follow_changes(self, link: Link, way: Way, report: Report) -> None:
        """Read the list again when the server says so, and now and then without."""
        wait, failures = _RELIST_SECONDS, 0
        while True:
            await anyio.sleep(max(wait, pause(failures)) if failures else wait)
            # What was told while waiting is read now, once; and when that goes on, less often.
            is_storm = link.changed.is_set()
            wait = min(wait * 2, _STORM_SECONDS) if is_storm else _RELIST_SECONDS
            with anyio.move_on_after(self._limits.poll_seconds):
                await link.changed.wait()
            link.changed.clear()
            answers = link.answers
            try:
                await self._read(link, way)
            except LIST_ERRORS as error:
                if isinstance(error, DeadlineError) and link.is_silent(answers):
                    raise
                why = self._server.quote(str(error))
                self._warn(f"its changed list could not be read, so the old one stands: {why}")
                # Else the last change would never be seen.
                link.changed.set()
                failures += 1
            else:
                failures = 0
            if not link.lost.is_set():
                self._tell(report, SourceStatus.READY)

    async def _read(self, link: Link, way: Way) -> None:
        """Take the server's list as it is now; raises as `list_tools` does."""
        try:
            listing = await list_tools(link, self._server, self._limits)
        except DeadlineError:
            way.answers = False
            raise
        way.answers = True
        limit = self._server.timeout or self._limits.call_seconds
        self._tools = tuple(McpTool(spec, limit, self._line) for spec in listing.specs)
        self._warnings = listing.warnings
        if aside := way.asides():
            self._warn(aside)

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
        server, limits = self._server, self._limits
        if isinstance(server.at, Command):
            return ChildProcess(server, server.at, frame_bytes=limits.list_bytes)
        call = server.timeout or limits.call_seconds
        return HttpEndpoint(
            server,
            server.at,
            body_bytes=limits.list_bytes,
            silence_seconds=max(call, limits.list_seconds, limits.initialize_seconds) + 1,
            account=self._account,
        )
