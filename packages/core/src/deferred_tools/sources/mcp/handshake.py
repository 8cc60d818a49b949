"""Opening a connection: the handshake, in either generation of the protocol."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import PackageNotFoundError, version

from mcp import MCPError
from mcp.client import ClientSession, IncomingMessage
from mcp.types import UNSUPPORTED_PROTOCOL_VERSION, Implementation, ToolListChangedNotification
from pydantic import ValidationError

from deferred_tools.limits import Limits
from deferred_tools.sources.mcp.connection import Dispatcher, Link
from deferred_tools.sources.mcp.unanswered import CLOSED, is_closed, unanswered
from deferred_tools.sources.mcp.way import (
    LACKS_SCOPE,
    REFUSED,
    DiedOnDiscoverError,
    LinkError,
    Way,
    deadline,
)


@asynccontextmanager
async def connect(way: Way, limits: Limits, *, legacy: bool) -> AsyncIterator[Link]:
    """Open a connection and shake hands; only the old way when `legacy`.

    Raises:
        DeadlineError: No answer within `Limits.initialize_seconds`.
        DiedOnDiscoverError: Try again with `legacy`.
        Exception: Whatever the transport raises, perhaps in an ExceptionGroup.
    """
    async with way.open() as (incoming, outgoing):
        dispatcher = Dispatcher(incoming, outgoing)

        async def on_message(message: IncomingMessage) -> None:
            if isinstance(message, ToolListChangedNotification):
                link.changed.set()

        client = _client_info()
        session = ClientSession(
            dispatcher=dispatcher, message_handler=on_message, client_info=client
        )
        link = Link(session, dispatcher, way, client)
        async with session:
            with deadline(limits.initialize_seconds, "initialize_seconds", "the MCP handshake"):
                await _shake_hands(session, legacy=legacy)
            way.answers = True
            yield link


async def _shake_hands(session: ClientSession, *, legacy: bool) -> None:
    if not legacy:
        try:
            await session.discover()
        except MCPError as error:
            if is_closed(error):
                raise DiedOnDiscoverError(CLOSED, sent=True) from None
            if error.code in {REFUSED, LACKS_SCOPE}:
                # Whoever is not let in is not let in the old way; some call that a bad request.
                raise
        except (RuntimeError, ValidationError):
            pass  # It answers, but knows no version of the new protocol.
        else:
            return
    try:
        await session.initialize()
    except MCPError as error:
        if why := unanswered(error):
            raise LinkError(why, sent=True) from None
        # A slow server answered the first question after we had given it up: it is a new one.
        if error.code != UNSUPPORTED_PROTOCOL_VERSION:
            raise
        await session.discover()


def _client_info() -> Implementation:
    try:
        return Implementation(name="deferred-tools", version=version("deferred-tools"))
    except PackageNotFoundError:  # used from a source tree
        return Implementation(name="deferred-tools", version="0")
