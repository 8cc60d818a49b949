"""What a model's call came to in `create_agent`, with calls that are exact or marked.

A model that another middleware brings in, such as a fallback, comes without `exact_calls`; what it
says is checked here.
"""

from dataclasses import replace
from typing import Any

from langchain.agents.middleware.types import ModelResponse
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from langchain_deferred_tools.search_tool import refusal
from langchain_deferred_tools.settled import invalid_calls, settled


def settled_response(response: ModelResponse[Any]) -> ModelResponse[Any]:
    """`response` with settled messages; no structured response comes of an invalid call."""
    result: list[BaseMessage] = []
    structured, invalid = response.structured_response, dict[str, str]()
    for message in response.result:
        if isinstance(message, AIMessage):
            result.append(settled(message))
            invalid |= invalid_calls(result[-1])
        elif isinstance(message, ToolMessage) and message.tool_call_id in invalid:
            why = invalid[message.tool_call_id]
            result.append(refusal(why, message.name or "", message.tool_call_id))
            structured = None
        else:
            result.append(message)
    return replace(response, result=result, structured_response=structured)
