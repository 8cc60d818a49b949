"""The gateway over standard input and output: one client, one conversation, one process."""

import os
from collections.abc import Sequence

import anyio
from mcp.server import NotificationOptions
from mcp.server.stdio import stdio_server

from deferred_tools.gateway.desk import Conversation
from deferred_tools.gateway.pinned import Pin
from deferred_tools.gateway.server import Gateway
from deferred_tools.policy import Caller
from deferred_tools.toolset import Toolset


class OverStdio:
    """Serves the process that started this one, which is the application itself."""

    def __init__(self, toolset: Toolset, pins: Sequence[Pin]) -> None:
        self._toolset = toolset
        one = Conversation(Caller.root())
        self.gateway = Gateway(toolset, pins, lambda _: one, lasting=True)

    async def run(self) -> None:
        """Serve until the client closes our input."""
        server = self.gateway.server
        options = server.create_initialization_options(NotificationOptions(tools_changed=True))
        # Meanwhile whatever else is printed goes to standard error.
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, options)

    async def stop(self, rest: anyio.CancelScope) -> None:
        """End the process, with nothing of the toolset left running; `rest` is all other work."""
        # First, as whatever uses a closed toolset opens it again.
        rest.cancel()
        with anyio.CancelScope(shield=True):
            await self._toolset.aclose()
        # A thread of the SDK's is blocked in a read of our input, and Python would wait for it.
        os._exit(0)
