"""One tool of an MCP server, callable from any event loop."""

import asyncio
import json
from collections.abc import Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from mcp import MCPError
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.inbound import mcp_param_headers, x_mcp_header_map

from deferred_tools.errors import InvalidArgumentsError, SourceUnavailableError, ToolTimeoutError
from deferred_tools.sources.base import OnProgress, Progress, ToolResult
from deferred_tools.sources.mcp.connection import Link
from deferred_tools.sources.mcp.result import error_result, to_result
from deferred_tools.sources.mcp.server import McpServer
from deferred_tools.sources.mcp.way import LinkError
from deferred_tools.spec import ToolSpec


class Line:
    """The way from a server's tools to its present connection, whichever that is.

    Tools outlive connections and are called from any event loop; a connection works only in
    the loop that made it.
    """

    def __init__(self, server: McpServer) -> None:
        self.server = server
        self._loop: asyncio.AbstractEventLoop | None = None
        self._link: Link | None = None
        self._reason = "it has not been started"

    def up(self, link: Link) -> None:
        """Send calls over `link`, which belongs to the running event loop."""
        self._loop = asyncio.get_running_loop()
        self._link = link

    def down(self, reason: str) -> None:
        """Refuse calls, for this reason."""
        self._link = None
        self._reason = reason

    async def request(
        self, params: dict[str, Any], headers: Mapping[str, str], tell: OnProgress | None
    ) -> dict[str, Any]:
        """Send one `tools/call`, once; `tell` is called in the present event loop.

        Raises:
            LinkError: No answer can come.
            MCPError: The server answered with an error.
        """
        loop, link = self._loop, self._link
        if loop is None or link is None:
            raise LinkError(self._reason, sent=False)
        progress = None if tell is None else _forwarded(tell, self.server)
        work = link.call(params, headers=headers, progress=progress)
        if loop is asyncio.get_running_loop():
            return await work
        return await _elsewhere(loop, work)


@dataclass(frozen=True, slots=True)
class McpTool:
    """A tool as its server listed it, and the line to call it over."""

    spec: ToolSpec
    seconds: float
    """How long a call may take."""
    line: Line = field(repr=False, compare=False)

    async def call(self, arguments: dict[str, Any]) -> ToolResult:
        """Call the tool once, from any event loop; cancelling cancels it at the server.

        Raises:
            InvalidArgumentsError: The arguments cannot be written as JSON; nothing was sent.
            SourceUnavailableError: The server is away, or went away before it answered.
            ToolTimeoutError: It did not answer in time.
        """
        return await self._call(arguments, None)

    async def call_telling(self, arguments: dict[str, Any], tell: OnProgress) -> ToolResult:
        """`call`, with `tell` called for all progress that the server tells of."""
        return await self._call(arguments, tell)

    async def _call(self, arguments: dict[str, Any], tell: OnProgress | None) -> ToolResult:
        self._check(arguments)
        params = {"name": self.spec.tool, "arguments": arguments}
        headers = mcp_param_headers(x_mcp_header_map(self.spec.input_schema), arguments)
        try:
            async with asyncio.timeout(self.seconds):
                raw = await self.line.request(params, headers, tell)
        except TimeoutError:
            raise ToolTimeoutError(self.spec.id, self.seconds) from None
        except LinkError as error:
            raise SourceUnavailableError(self.spec.source, self._lost(error)) from None
        except MCPError as error:
            return error_result(self.line.server.redact(error.message))
        return to_result(raw)

    def _check(self, arguments: dict[str, Any]) -> None:
        # One value that the transport cannot encode would take the whole connection down.
        try:
            json.dumps(arguments, ensure_ascii=False, allow_nan=False).encode()
        except (TypeError, ValueError, RecursionError) as error:
            why = f"they cannot be written as JSON ({type(error).__name__})"
            raise InvalidArgumentsError(self.spec.id, (why,)) from None

    def _lost(self, error: LinkError) -> str:
        why = self.line.server.quote(str(error))
        if not error.sent:
            return f"{why}, so {self.spec.id!r} was not run; try again later"
        return (
            f"{why} while {self.spec.id!r} ran. It may have had an effect; "
            "check before calling it again"
        )


def _forwarded(tell: OnProgress, server: McpServer) -> ProgressFnT:
    """What hands progress on to the present event loop."""
    here = asyncio.get_running_loop()

    async def forward(progress: float, total: float | None, message: str | None) -> None:
        words = server.quote(message or "")
        with suppress(RuntimeError):  # that loop has ended
            here.call_soon_threadsafe(tell, Progress(done=progress, total=total, message=words))

    return forward


async def _elsewhere(
    loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, dict[str, Any]]
) -> dict[str, Any]:
    """Await `work` in another event loop; a cancellation here goes there."""
    try:
        there = asyncio.run_coroutine_threadsafe(work, loop)
    except RuntimeError:
        work.close()
        raise LinkError("it is closed", sent=False) from None
    try:
        return await asyncio.wrap_future(there)
    except asyncio.CancelledError:
        here = asyncio.current_task()
        if there.cancelled() and (here is None or not here.cancelling()):
            # Nobody gave up here: the other loop ended.
            raise LinkError("it was closed", sent=True) from None
        raise
