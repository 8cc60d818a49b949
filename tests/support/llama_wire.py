"""LlamaIndex's own classes for vendors' models, over scripted streams of these vendors' events."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx
from anthropic import AsyncAnthropic
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.tools import FunctionTool
from llama_index.llms.anthropic import Anthropic
from llama_index.llms.openai import OpenAI, OpenAIResponses

from deferred_tools import Toolset
from llama_index.tools.deferred import DeferredTools

Event = dict[str, Any]
Stream = Sequence[Event]
How = Literal["function", "workflow"]
Vendor = Callable[["Wire"], FunctionCallingLLM]


@dataclass
class Noted:
    """What tools were run with."""

    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)

    def tool(self, name: str = "delete_rows") -> Callable[..., str]:
        """A function with a default that does harm if it is not what the model wrote."""

        def run(table: str, dry_run: bool = False) -> str:
            """Delete all rows."""
            self.calls.append((name, {"table": table, "dry_run": dry_run}))
            return f"{name} ran"

        run.__name__ = name
        return run

    def idle(self, name: str = "now") -> Callable[..., str]:
        """A function without arguments."""

        def run() -> str:
            """Tell the time."""
            self.calls.append((name, {}))
            return f"{name} ran"

        run.__name__ = name
        return run

    def own(self, name: str = "delete_rows") -> FunctionTool:
        """The same as an agent's own tool."""
        return FunctionTool.from_defaults(self.tool(name))


class Wire:
    """Answers each request with the next stream, or message, and keeps what was asked."""

    def __init__(self, *script: Stream | Event) -> None:
        self._script = list(script)
        self.asked: list[dict[str, Any]] = []

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The history of the latest request."""
        messages: list[dict[str, Any]] = self.asked[-1].get("messages") or self.asked[-1]["input"]
        return messages

    @property
    def client(self) -> Any:
        """What the vendors' libraries send their requests by; each names its type otherwise."""
        return httpx.AsyncClient(transport=httpx.MockTransport(self._answer))

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(json.loads(request.content))
        answer = self._script.pop(0)
        if isinstance(answer, dict):
            return httpx.Response(200, json=answer)
        lines = "".join(f"event: {it.get('type')}\ndata: {json.dumps(it)}\n\n" for it in answer)
        return httpx.Response(
            200, text=f"{lines}data: [DONE]\n\n", headers={"content-type": "text/event-stream"}
        )


def openai(wire: Wire) -> FunctionCallingLLM:
    """Chat completions."""
    return OpenAI(model="gpt-4o-mini", api_key="x", async_http_client=wire.client, max_retries=0)


def responses(wire: Wire) -> FunctionCallingLLM:
    """OpenAI's Responses."""
    llm = OpenAIResponses(model="gpt-4o-mini", api_key="x", async_http_client=wire.client)
    llm.max_retries = 0
    return llm


def anthropic(wire: Wire) -> FunctionCallingLLM:
    """Anthropic's Messages."""
    llm = Anthropic(model="claude-haiku-4-5", api_key="x")
    llm._aclient = AsyncAnthropic(api_key="x", http_client=wire.client, max_retries=0)
    return llm


def stream_agent(
    toolset: Toolset,
    own: list[Any],
    *script: Stream | Event,
    how: How = "function",
    vendor: Vendor = openai,
    **fields: Any,
) -> tuple[Wire, Any]:
    """An agent whose model streams these messages."""
    wire = Wire(*script)
    agent = FunctionAgent(llm=vendor(wire), tools=own, system_prompt="You help.", **fields)
    made = agent if how == "function" else AgentWorkflow(agents=[agent])
    return wire, DeferredTools(toolset).attach(made)


def sent_back(wire: Wire) -> list[tuple[str, str, Any]]:
    """Id, name and arguments of the calls in the history, as their provider gets it."""
    return [
        (call["id"], call["function"]["name"], call["function"]["arguments"])
        for message in wire.messages
        for call in message.get("tool_calls", ())
    ]


def answered(wire: Wire) -> list[str]:
    """The ids that the history has answers for."""
    return [it["tool_call_id"] for it in wire.messages if it["role"] == "tool"]


def call_of(
    args: Any = None,
    *,
    name: str | None = None,
    id: str | None = None,  # noqa: A002  as the wire calls it
    index: int | None = None,
) -> Event:
    """What a chunk says of one call; what is None is null."""
    function = {"name": name, "arguments": args}
    return {"index": index, "id": id, "type": "function", "function": function}


def chunk(*calls: Event, text: str | None = None, reason: str | None = None) -> Event:
    """A chunk of chat completions."""
    delta = {"role": "assistant", "content": text, "tool_calls": list(calls) or None}
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 0,
        "model": "gpt-4o-mini",
        "choices": [choice],
    }


def part(args: Any = None, **said: Any) -> Event:
    """A chunk with a part of one call."""
    return chunk(call_of(args, **said))


def end(reason: str | None = "tool_calls") -> Event:
    """The last chunk."""
    return chunk(text="", reason=reason)


DONE = [chunk(text="done"), end("stop")]


def uses(*streams: Stream, reason: str = "tool_use") -> list[Event]:
    """A message of Anthropic's with these blocks."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    message: Event = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-4-5",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    return [
        {"type": "message_start", "message": message},
        *(event | {"index": at} for at, stream in enumerate(streams) for event in stream),
        {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage},
        {"type": "message_stop"},
    ]


def use(*pieces: str, name: str = "delete_rows", id: str) -> list[Event]:  # noqa: A002  the same
    """A block of Anthropic's with a call in pieces."""
    block = {"type": "tool_use", "id": id, "name": name, "input": {}}
    return [
        {"type": "content_block_start", "content_block": block},
        *(
            {
                "type": "content_block_delta",
                "delta": {"type": "input_json_delta", "partial_json": piece},
            }
            for piece in pieces
        ),
        {"type": "content_block_stop"},
    ]


def text_block(text: str) -> list[Event]:
    """A block of Anthropic's with a text."""
    return [
        {"type": "content_block_start", "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}},
        {"type": "content_block_stop"},
    ]


SAID = uses(text_block("done"), reason="end_turn")
