"""What providers' stream events say of tool calls, as fragments; and how their messages ended."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from deferred_tools.bridge import Fragment

Event = Mapping[str, Any]
Told = Iterator[Fragment | str]
"""Fragments, and the word for how the message ended."""


def chat(event: Event) -> Told:
    """A chunk of chat completions, as many providers send them."""
    for choice in event["choices"]:
        for call in choice["delta"].get("tool_calls") or ():
            function = call.get("function", {})
            arguments = function.get("arguments")
            is_text = isinstance(arguments, str)
            yield Fragment(
                index=call.get("index"),
                id=call.get("id"),
                name=function.get("name"),
                arguments=arguments if is_text else None,
                whole=None if is_text else arguments,
            )
        if choice.get("finish_reason"):
            yield choice["finish_reason"]


def responses(event: Event) -> Told:
    """An event of the Responses API."""
    index = event.get("output_index")
    match event["type"]:
        case "response.output_item.added" | "response.output_item.done":
            item = event["item"]
            if item["type"] == "function_call":
                done = event["type"].endswith("done")
                yield Fragment(
                    index=index,
                    id=item["call_id"],
                    name=item["name"],
                    whole=item["arguments"],
                    done=done,
                )
        case "response.function_call_arguments.delta":
            yield Fragment(index=index, arguments=event["delta"])
        case "response.function_call_arguments.done":
            yield Fragment(index=index, whole=event["arguments"])
        case "response.completed" | "response.incomplete":
            yield event["response"]["status"]


def anthropic(event: Event) -> Told:
    """An event of the Messages API."""
    match event:
        case {"type": "content_block_start", "content_block": {"type": "tool_use"} as block}:
            yield Fragment(
                index=event["index"], id=block["id"], name=block["name"], whole=block["input"]
            )
        case {"type": "content_block_delta", "delta": {"type": "input_json_delta"} as delta}:
            yield Fragment(index=event["index"], arguments=delta["partial_json"])
        case {"type": "content_block_stop"}:
            yield Fragment(index=event["index"], done=True)
        case {"type": "message_delta", "delta": {"stop_reason": str(reason)}}:
            yield reason


def bedrock(event: Event) -> Told:
    """An event of a Converse stream."""
    match event:
        case {"contentBlockStart": {"contentBlockIndex": index, "start": {"toolUse": use}}}:
            yield Fragment(index=index, id=use["toolUseId"], name=use["name"])
        case {"contentBlockDelta": {"contentBlockIndex": index, "delta": {"toolUse": use}}}:
            yield Fragment(index=index, arguments=use["input"])
        case {"contentBlockStop": {"contentBlockIndex": index}}:
            yield Fragment(index=index, done=True)
        case {"messageStop": {"stopReason": str(reason)}}:
            yield reason


def gemini(event: Event) -> Told:
    """A chunk of generated content."""
    for candidate in event["candidates"]:
        for part in candidate.get("content", {}).get("parts", ()):
            if "functionCall" in part:
                call = part["functionCall"]
                yield Fragment(id=call.get("id"), name=call["name"], whole=call.get("args", {}))
        if "finishReason" in candidate:
            yield candidate["finishReason"]


def ollama(event: Event) -> Told:
    """A line of a chat."""
    for call in event["message"].get("tool_calls", ()):
        function = call["function"]
        yield Fragment(
            index=function.get("index"), name=function["name"], whole=function["arguments"]
        )
    if "done_reason" in event:
        yield event["done_reason"]


READERS: dict[str, Callable[[Event], Told]] = {
    "openai_responses": responses,
    "anthropic": anthropic,
    "bedrock_converse": bedrock,
    "gemini": gemini,
    "ollama": ollama,
}


def told(dialect: str, event: Event) -> Told:
    """What `event` of that dialect's wire says; most are chat completions."""
    return READERS.get(dialect, chat)(event)
