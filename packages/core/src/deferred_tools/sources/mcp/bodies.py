"""Bodies of HTTP answers as they may be handed to the SDK: bounded, and safe to be logged.

The SDK logs what it cannot parse. A message goes through as it came; what is none loses the
secrets in it.
"""

import json
from collections.abc import AsyncIterator

import httpx2
from mcp.types import jsonrpc_message_adapter

from deferred_tools.sources.mcp.server import McpServer

_DATA = "data:"
_LARGE = 64 * 1024


class Body(httpx2.AsyncByteStream):
    """One message, read to its end; fails when it grows too large or breaks off."""

    def __init__(self, body: httpx2.AsyncByteStream, limit: int, server: McpServer) -> None:
        self._body = body
        self._limit = limit
        self._server = server

    async def __aiter__(self) -> AsyncIterator[bytes]:
        whole = bytearray()
        try:
            async for chunk in self._body:
                whole += chunk
                if len(whole) > self._limit:
                    raise httpx2.StreamError(f"a body of more than {self._limit} bytes")
        except httpx2.TransportError as error:
            # The SDK fails one request for this, and for that error the whole connection.
            raise httpx2.StreamError(f"a body that broke off ({type(error).__name__})") from None
        yield _safe(bytes(whole), self._server)

    async def aclose(self) -> None:
        """Close what this was read from."""
        await self._body.aclose()


class Events(Body):
    """Events, line by line, for as long as they come; fails when a line grows too large."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        rest = bytearray()
        async for chunk in self._body:
            rest += chunk
            if len(rest) > self._limit:
                raise httpx2.StreamError(f"an event of more than {self._limit} bytes")
            if (end := chunk.rfind(b"\n")) >= 0:
                whole = len(rest) - len(chunk) + end + 1
                lines = bytes(rest[:whole]).splitlines(keepends=True)
                del rest[:whole]
                yield b"".join(_safe(line, self._server) for line in lines)
        yield bytes(rest)


def _safe(data: bytes, server: McpServer) -> bytes:
    """A message, or a line of an event, as it came; without secrets if it is none."""
    text = data.decode("utf-8", "replace")
    if not server.holds_secret(text):
        return data
    message = text.removeprefix(_DATA).strip()
    try:
        # Of a large one the SDK would not show more than its ends, and takes a second for 8 MB.
        if len(data) > _LARGE:
            json.loads(message)
        else:
            jsonrpc_message_adapter.validate_json(message, by_name=False)
    except (ValueError, RecursionError):
        return server.redact(text).encode("utf-8", "replace")
    return data
