"""A server of the SDK's own making, for either generation of the protocol.

Run as `python sdk.py` for stdio, or `python sdk.py <port> [token]` for HTTP: with a token, only
who sends it as a bearer is let in. The list has pages of two and changes while it runs.
"""

import os
import sys
from typing import Any

import anyio
import uvicorn
from mcp import MCPError, types
from mcp.server import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

PIXEL = "iVBORw0KGgo="
SCHEMA = {"type": "object", "properties": {"number": {"type": "integer"}}}
bus = InMemorySubscriptionBus()
tools = {
    name: types.Tool(name=name, description=f"The tool {name}.", input_schema=SCHEMA)
    for name in ("add_tool", "burst", "die", "mismatch", "picture", "raise", "sleep")
}
tools["mismatch"].output_schema = {
    "type": "object",
    "properties": {"number": {"type": "integer"}},
    "required": ["number"],
}
sessions: set[Any] = set()


async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
    sessions.add(ctx.session)
    names = sorted(tools)
    start = int(params.cursor) if params is not None and params.cursor else 0
    following = str(start + 2) if start + 2 < len(names) else None
    return types.ListToolsResult(
        tools=[tools[name] for name in names[start : start + 2]], next_cursor=following
    )


async def changed() -> None:
    await bus.publish(ToolsListChanged())
    for session in list(sessions):
        await session.send_tool_list_changed()


async def call_tool(ctx: Any, params: Any) -> types.CallToolResult:
    arguments = params.arguments or {}
    text = types.TextContent(type="text", text="done")
    match params.name:
        case "add_tool" | "burst":
            for number in range(arguments.get("number", 1)):
                tools[f"new{number}"] = types.Tool(name=f"new{number}", input_schema=SCHEMA)
                await changed()
        case "die":
            os._exit(3)
        case "mismatch":
            return types.CallToolResult(content=[text], structured_content={"number": "many"})
        case "picture":
            image = types.ImageContent(type="image", data=PIXEL, mime_type="image/png")
            return types.CallToolResult(content=[text, image])
        case "raise":
            raise MCPError(-32050, "the record is locked")
        case "sleep":
            await anyio.sleep(arguments["number"])
    return types.CallToolResult(content=[text])


server = Server(
    "sdk",
    version="1.0",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
    on_subscriptions_listen=ListenHandler(bus),
)


async def over_stdio() -> None:
    async with stdio_server() as (incoming, outgoing):
        options = server.create_initialization_options(NotificationOptions(tools_changed=True))
        await server.run(incoming, outgoing, options)


def guarded(app: Any, token: str) -> Any:
    """`app` for those who send the token, and 401 for everybody else."""

    async def guard(scope: Any, receive: Any, send: Any) -> None:
        sent = dict(scope.get("headers", ())).get(b"authorization", b"")
        if scope["type"] == "http" and sent != f"Bearer {token}".encode():
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b"no"})
        else:
            await app(scope, receive, send)

    return guard


def main() -> None:
    if len(sys.argv) == 1:
        anyio.run(over_stdio)
        return
    app: Any = server.streamable_http_app()
    if len(sys.argv) > 2:
        app = guarded(app, sys.argv[2])
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")


if __name__ == "__main__":
    main()
