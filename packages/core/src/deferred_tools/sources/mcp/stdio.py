"""A server as a child process: one JSON-RPC message per line of its standard streams.

In place of the SDK's transport, which reads a line without a bound (one of 50 MB costs every
server a minute) and keeps neither exit code nor standard error. Output that is no message
costs nothing. Standard error is kept, its end only, and never shown on the user's terminal.
"""

import json
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

import anyio
import anyio.lowlevel
from anyio.abc import ByteReceiveStream, ByteSendStream, Process
from anyio.streams.buffered import BufferedByteReceiveStream
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client import Transport
from mcp.client.stdio import get_default_environment
from mcp.os.posix.utilities import terminate_posix_process_tree
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCMessage, jsonrpc_message_adapter

from deferred_tools.sources.mcp.server import Command, McpServer
from deferred_tools.spec import one_line

# Together below `Limits.close_seconds`: to leave by itself, and to heed SIGTERM.
_LEAVE_SECONDS = 2.0
_TERMINATE_SECONDS = 1.5
# How long a child that closed its output may take to be gone, with its last words read.
_LAST_WORDS_SECONDS = 0.5
_KEPT_BYTES = 8 * 1024
_LAST_WORDS = 240
# A child that reads slowly must not hold up a call's deadline.
_OUTGOING_MESSAGES = 64
_SURROGATE = re.compile(rb"\\u[dD][89abcdefABCDEF]")

T = TypeVar("T")


class ChildProcess:
    """One run of a command. Opened once; tells afterwards what became of it."""

    # A child cannot want other credentials, and its session is its life.
    refused = False
    forgotten = False

    def __init__(self, server: McpServer, command: Command, *, frame_bytes: int) -> None:
        self._server = server
        self._command = command
        self._frame_bytes = frame_bytes
        self._stderr = bytearray()
        self._stderr_read = anyio.Event()
        self._stray = b""
        self._strays = 0
        self._too_long = False
        self._ended = False
        self._end_seen = ""
        self.answers = False
        """Set when the server has answered: then it is given time to leave by itself."""

    def open(self) -> Transport:
        """The child and the two streams to talk with it; no process is left on exit.

        Raises:
            OSError: The command cannot be run.
        """
        return self._run()

    def findings(self) -> str:
        """What there is to say of the child, without secrets; "" if nothing."""
        told = []
        if self._too_long:
            told.append(f"it sent a message of more than {self._frame_bytes} bytes")
        if self._end_seen:
            told.append(self._end_seen)
        if not self.answers and (stray := self._first_stray()):
            told.append(f"it printed what is not MCP: {stray!r}")
        # Secrets first: a cut could leave a part of one.
        words = self._server.redact(self._stderr.decode("utf-8", "replace")).rstrip()
        if last := one_line(words[-_LAST_WORDS:], _LAST_WORDS):
            told.append(f"its standard error ended: {last!r}")
        return "; ".join(told)

    def asides(self) -> str:
        """That it prints what is not MCP, if it does, without secrets."""
        if not self._strays:
            return ""
        lines = "a line" if self._strays == 1 else f"{self._strays} lines"
        first = self._first_stray()
        return f"it printed {lines} that no MCP client can read, the first: {first!r}"

    @asynccontextmanager
    async def _run(
        self,
    ) -> AsyncIterator[
        tuple[
            MemoryObjectReceiveStream[SessionMessage | Exception],
            MemoryObjectSendStream[SessionMessage],
        ]
    ]:
        # Cancelled half-way, a child would be left that nobody knows.
        with anyio.CancelScope(shield=True):
            process = await anyio.open_process(
                [self._command.command, *self._command.args],
                env=get_default_environment() | dict(self._command.env),
                cwd=self._command.cwd,
                start_new_session=True,
            )
        read, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outgoing, write = anyio.create_memory_object_stream[SessionMessage](_OUTGOING_MESSAGES)
        with read, incoming, outgoing, write:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._read, _pipe(process.stdout), read)
                tasks.start_soon(_write, write, _pipe(process.stdin), read)
                tasks.start_soon(self._keep_stderr, _pipe(process.stderr))
                try:
                    yield incoming, outgoing
                finally:
                    # Bounded, and done even when cancelled: else the child would stay.
                    with anyio.CancelScope(shield=True):
                        await self._end(process)
                    tasks.cancel_scope.cancel()

    async def _read(
        self, stdout: ByteReceiveStream, read: MemoryObjectSendStream[SessionMessage | Exception]
    ) -> None:
        lines = BufferedByteReceiveStream(stdout)
        with read:
            try:
                while True:
                    line = await lines.receive_until(b"\n", self._frame_bytes)
                    if len(line) > self._frame_bytes:
                        raise anyio.DelimiterNotFound(self._frame_bytes)
                    if (message := _message(line)) is not None:
                        await read.send(SessionMessage(message))
                    else:
                        self._strays += 1
                        self._stray = self._stray or line[:_KEPT_BYTES]
                        # Lines that are there already are read without a pause.
                        await anyio.lowlevel.checkpoint()
            except anyio.DelimiterNotFound:
                self._too_long = True
            except (anyio.IncompleteRead, anyio.BrokenResourceError, anyio.ClosedResourceError):
                self._ended = True

    async def _keep_stderr(self, stderr: ByteReceiveStream) -> None:
        try:
            async for chunk in stderr:
                self._stderr += chunk
                del self._stderr[:-_KEPT_BYTES]
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            pass
        finally:
            self._stderr_read.set()

    def _first_stray(self) -> str:
        return self._server.quote(self._stray.decode("utf-8", "replace"))

    async def _end(self, process: Process) -> None:
        """Let the child leave, or make it and all its descendants."""
        if self._ended:
            with anyio.move_on_after(_LAST_WORDS_SECONDS):
                await process.wait()
            code = process.returncode
            self._end_seen = (
                "it closed its output" if code is None else f"it exited with code {code}"
            )
        elif self.answers and not self._too_long:
            await _pipe(process.stdin).aclose()
            with anyio.move_on_after(_LEAVE_SECONDS):
                await process.wait()
        if sys.platform != "win32":
            # What the child itself started goes too, even when the child has left.
            await terminate_posix_process_tree(process, _TERMINATE_SECONDS)
        elif process.returncode is None:
            process.kill()
        with anyio.move_on_after(_LAST_WORDS_SECONDS):
            await self._stderr_read.wait()
        await process.aclose()


async def _write(
    messages: MemoryObjectReceiveStream[SessionMessage],
    stdin: ByteSendStream,
    read: MemoryObjectSendStream[SessionMessage | Exception],
) -> None:
    with messages:
        try:
            async for item in messages:
                line = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                await stdin.send(line.encode() + b"\n")
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            # Nobody listens any more: let what waits for an answer know.
            read.close()


def _message(line: bytes) -> JSONRPCMessage | None:
    """The message on a line, or None if there is none."""
    if not line.lstrip().startswith(b"{"):
        return None
    try:
        value = json.loads(line.decode("utf-8", "replace"))
        if _SURROGATE.search(line):
            # Half an emoji, cut by a server: kept as a replacement character.
            text = json.dumps(value, ensure_ascii=False)
            whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            value = json.loads(whole)
        return jsonrpc_message_adapter.validate_python(value, by_name=False)
    except (ValueError, RecursionError):
        return None


def _pipe(stream: T | None) -> T:
    if stream is None:
        raise RuntimeError("the child was started without a pipe")
    return stream
