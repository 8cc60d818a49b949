"""The server with the tools that the official suite asks for, by the SDK, over streamable HTTP.

Run as `python server.py`: it listens on a free port of 127.0.0.1 and prints its address.
"""

import json
import socket
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import uvicorn
from mcp import MCPError, types
from mcp.server import Server
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.message import ServerMessageMetadata

Context = Any
Answer = types.CallToolResult

_PIXEL = "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
_SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="
_STEP_SECONDS = 0.05
_RETRY_MILLISECONDS = 300
_SCHEMA_2020_12 = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
_PERSON = {
    "type": "object",
    "properties": {"username": {"type": "string"}, "email": {"type": "string"}},
    "required": ["username", "email"],
}


def _text(text: str) -> types.TextContent:
    return types.TextContent(type="text", text=text)


def _resource(uri: str, kind: str, text: str) -> types.EmbeddedResource:
    contents = types.TextResourceContents(uri=uri, mime_type=kind, text=text)
    return types.EmbeddedResource(type="resource", resource=contents)


_IMAGE = types.ImageContent(type="image", data=_PIXEL, mime_type="image/gif")
_OK = Answer(content=[_text("done")])
_FIXED: dict[str, Answer] = {
    "test_simple_text": Answer(content=[_text("This is a simple text response for testing.")]),
    "test_image_content": Answer(content=[_IMAGE]),
    "test_audio_content": Answer(
        content=[types.AudioContent(type="audio", data=_SILENCE, mime_type="audio/wav")]
    ),
    "test_embedded_resource": Answer(
        content=[_resource("test://embedded-resource", "text/plain", "An embedded resource.")]
    ),
    "test_multiple_content_types": Answer(
        content=[
            _text("Multiple content types test:"),
            _IMAGE,
            _resource("test://mixed-content-resource", "application/json", '{"value":123}'),
        ]
    ),
    "test_error_handling": Answer(
        content=[_text("This tool intentionally returns an error for testing")], is_error=True
    ),
    "json_schema_2020_12_tool": _OK,
    # What a server does that was not asked to log.
    "test_logging_tool": _OK,
    "test_x_mcp_header": _OK,
}


async def _log(ctx: Context) -> Answer:
    """Say three things on the way."""
    for step in ("started", "processing data", "completed"):
        params = types.LoggingMessageNotificationParams(level="info", data=f"Tool {step}")
        notification = types.LoggingMessageNotification(params=params)
        await ctx.session.send_notification(notification, related_request_id=ctx.request_id)
        await anyio.sleep(_STEP_SECONDS)
    return _OK


async def _progress(ctx: Context) -> Answer:
    for percent in (0, 50, 100):
        await ctx.session.report_progress(percent, 100)
        await anyio.sleep(_STEP_SECONDS)
    return _OK


async def _sample(ctx: Context) -> Answer:
    message = types.SamplingMessage(role="user", content=_text("Test prompt for sampling"))
    params = types.CreateMessageRequestParams(messages=[message], max_tokens=100)
    answer = await ctx.session.send_request(
        types.CreateMessageRequest(params=params), types.CreateMessageResult, metadata=_on(ctx)
    )
    return Answer(content=[_text(f"LLM response: {answer.content}")])


async def _elicit(ctx: Context) -> Answer:
    params = types.ElicitRequestFormParams(message="Who are you?", requested_schema=_PERSON)
    answer = await ctx.session.send_request(
        types.ElicitRequest(params=params), types.ElicitResult, metadata=_on(ctx)
    )
    return Answer(content=[_text(f"User response: {answer.action} {json.dumps(answer.content)}")])


async def _reconnect(ctx: Context) -> Answer:
    """Hang up in the middle; the answer is there for who comes back."""
    if ctx.close_sse_stream is not None:
        await ctx.close_sse_stream()
    await anyio.sleep(_STEP_SECONDS)
    return _OK


async def _need_sampling(ctx: Context) -> Answer:
    """Refuse a client that does not say it can sample."""
    wanted = types.ClientCapabilities(sampling=types.SamplingCapability())
    if not ctx.session.check_client_capability(wanted):
        data: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "sampling is needed", data)
    return _OK


_ACTED: dict[str, Callable[[Context], Awaitable[Answer]]] = {
    "test_elicitation": _elicit,
    "test_missing_capability": _need_sampling,
    "test_reconnection": _reconnect,
    "test_sampling": _sample,
    "test_streaming_elicitation": _progress,
    "test_tool_with_logging": _log,
    "test_tool_with_progress": _progress,
}
_SCHEMAS: dict[str, dict[str, Any]] = {
    "json_schema_2020_12_tool": _SCHEMA_2020_12,
    "test_elicitation": {"properties": {"message": {"type": "string"}}, "required": ["message"]},
    "test_sampling": {"properties": {"prompt": {"type": "string"}}, "required": ["prompt"]},
    "test_x_mcp_header": {
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
        "required": ["region"],
    },
}
TOOLS = tuple(sorted([*_FIXED, *_ACTED, "test_trigger_tool_change"]))
"""The tools by name: what a gateway in front of this server is to pin."""


def _on(ctx: Context) -> ServerMessageMetadata:
    """On the stream of this call."""
    return ServerMessageMetadata(related_request_id=ctx.request_id)


class _Events(EventStore):
    """Every message of every stream, for clients that come back."""

    def __init__(self) -> None:
        self._events: list[tuple[str, types.JSONRPCMessage | None]] = []

    async def store_event(self, stream_id: str, message: types.JSONRPCMessage | None) -> str:
        self._events.append((stream_id, message))
        return str(len(self._events))

    async def replay_events_after(
        self, last_event_id: str, send_callback: EventCallback
    ) -> str | None:
        place = int(last_event_id)
        stream, _ = self._events[place - 1]
        for number, (other, message) in enumerate(self._events[place:], place + 1):
            if other == stream and message is not None:
                await send_callback(EventMessage(message, str(number)))
        return stream


def build() -> Server[Any]:
    """The server, with nothing running."""
    bus, changes = InMemorySubscriptionBus(), 0

    async def list_tools(_: Context, __: Any) -> types.ListToolsResult:
        tools = [
            types.Tool(
                name=name,
                description=f"The tool {name}, in edition {changes}.",
                input_schema={"type": "object", **_SCHEMAS.get(name, {})},
            )
            for name in TOOLS
        ]
        return types.ListToolsResult(tools=tools)

    async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> Answer:
        if params.name in _FIXED:
            return _FIXED[params.name]
        if params.name in _ACTED:
            return await _ACTED[params.name](ctx)
        if params.name == "test_trigger_tool_change":
            nonlocal changes
            changes += 1
            await bus.publish(ToolsListChanged())
            return _OK
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")

    server = Server(
        "conformance",
        version="1.0",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_subscriptions_listen=ListenHandler(bus),
    )
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, _set_level)
    return server


async def _set_level(_: Context, __: types.SetLevelRequestParams) -> types.EmptyResult:
    return types.EmptyResult()


def main() -> None:
    """Serve until stopped."""
    app = build().streamable_http_app(event_store=_Events(), retry_interval=_RETRY_MILLISECONDS)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        host, port = listener.getsockname()
        sys.stdout.write(f"http://{host}:{port}/mcp\n")
        sys.stdout.flush()
        config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
        uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
