"""How far a call is, from the tool on to the client that waits for it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.server.session import ServerSession

from deferred_tools.sources.base import OnProgress, Progress

_WAITING = 64
"""What a client that reads slowly may have before it; the rest is left out, as none of it is
needed."""


@asynccontextmanager
async def passed_on(session: ServerSession) -> AsyncIterator[OnProgress]:
    """Gives whom to tell; what was told has gone to the client when the block ends."""
    send, receive = anyio.create_memory_object_stream[Progress](_WAITING)

    def tell(progress: Progress) -> None:
        with suppress(anyio.WouldBlock, anyio.ClosedResourceError):
            send.send_nowait(progress)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_pass_on, receive, session)
        with send:
            yield tell


async def _pass_on(told: MemoryObjectReceiveStream[Progress], session: ServerSession) -> None:
    async with told:
        async for one in told:
            await session.report_progress(one.done, one.total, one.message or None)
