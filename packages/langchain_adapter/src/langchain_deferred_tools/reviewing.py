"""Calls that a reviewer has edited, or redirected to another tool.

Langchain's own reviewer, where it comes after ours, keeps its edits in the state, and applies them
to the request that we hand on. It ends the run for a tool that it does not know.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from langchain_core.messages import ToolCall
from langchain_core.tools import BaseTool
from langgraph.prebuilt.tool_node import ToolCallRequest

from deferred_tools.errors import ModelError
from langchain_deferred_tools.settled import valid_calls
from langchain_deferred_tools.state import last_calls, messages_of, state_value

_EDITS = "hitl_edited_tool_calls"
"""The state key in which langchain's HumanInTheLoopMiddleware keeps reviewers' edits."""


def reviewed(request: ToolCallRequest) -> ToolCall:
    """The call as it will run."""
    return _edited(request.tool_call, _edits(request))


def names_called(request: ToolCallRequest) -> list[str]:
    """The tools of the model's message that `request` is a call of, as they will run, in order."""
    message, _ = last_calls(messages_of(request.state))
    calls = valid_calls(message)
    if request.tool_call["id"] not in {call["id"] for call in calls}:
        calls = [request.tool_call]
    return [_edited(call, _edits(request))["name"] for call in calls]


def own_tool(request: ToolCallRequest, name: str) -> BaseTool | None:
    """The graph's own tool of that name."""
    if name == request.tool_call["name"]:
        return request.tool
    return next((tool for tool in request.runtime.tools if tool.name == name), None)


def with_tool(request: ToolCallRequest, call: ToolCall, tool: BaseTool) -> ToolCallRequest:
    """`request` to run `call`, with `tool` where a reviewer will look for it."""
    if call["args"] != reviewed(request)["args"]:
        request = _with_arguments(request, call)
    if call["name"] == request.tool_call["name"]:
        return request.override(tool=tool)
    others = [other for other in request.runtime.tools if other.name != tool.name]
    return replace(request, runtime=replace(request.runtime, tools=[*others, tool]))


def told(error: ModelError, request: ToolCallRequest, call: ToolCall) -> str:
    """The refusal of `call`, as the model understands it, which made another one."""
    if call["name"] == request.tool_call["name"]:
        return str(error)
    return f"A reviewer replaced this call with one of {call['name']!r}. {error}"


def _with_arguments(request: ToolCallRequest, call: ToolCall) -> ToolCallRequest:
    """`request` with the arguments of `call`, also where a reviewer has put its own."""
    edits, one = _edits(request), call["id"] or ""
    if one in edits:
        edit = {**edits[one], "args": call["args"]}
        request = request.override(state={**request.state, _EDITS: {**edits, one: edit}})
    if call["name"] == request.tool_call["name"]:
        request = request.override(tool_call={**request.tool_call, "args": call["args"]})
    return request


def _edits(request: ToolCallRequest) -> Mapping[str, Any]:
    return state_value(request.state, _EDITS) or {}


def _edited(call: ToolCall, edits: Mapping[str, Any]) -> ToolCall:
    edit = edits.get(call["id"] or "")
    return {**call, "name": edit["name"], "args": edit["args"]} if edit else call
