"""What LlamaIndex's packages for two vendors would send, without sending it."""

from collections.abc import Callable, Sequence
from typing import Any, cast

from llama_index.core.base.llms.types import ContentBlock
from llama_index.core.llms import ChatMessage
from llama_index.core.tools import BaseTool
from llama_index.llms.anthropic import Anthropic
from llama_index.llms.anthropic.utils import blocks_to_anthropic_blocks
from llama_index.llms.openai import OpenAI, OpenAIResponses
from llama_index.llms.openai.utils import (
    to_openai_message_dict,
    to_openai_responses_message_dict,
)

Told = dict[str, dict[str, Any]]
"""By name: `description` and `parameters`."""


def told_by_openai(tools: Sequence[BaseTool]) -> Told:
    """What Chat Completions is told of tools."""
    made = OpenAI(model="gpt-4o", api_key="x")._prepare_chat_with_tools(list(tools))
    return {one["function"]["name"]: one["function"] for one in made["tools"]}


def told_by_responses(tools: Sequence[BaseTool]) -> Told:
    """What the Responses API is told of tools."""
    made = OpenAIResponses(model="gpt-4o", api_key="x")._prepare_chat_with_tools(list(tools))
    return {one["name"]: one for one in made["tools"]}


def told_by_anthropic(tools: Sequence[BaseTool]) -> Told:
    """What Anthropic is told of tools."""
    made = Anthropic(api_key="x")._prepare_chat_with_tools(list(tools))
    return {one["name"]: {**one, "parameters": one["input_schema"]} for one in made["tools"]}


VENDORS: dict[str, Callable[[Sequence[BaseTool]], Told]] = {
    "openai": told_by_openai,
    "responses": told_by_responses,
    "anthropic": told_by_anthropic,
}


def whole(vendor: str, schema: dict[str, Any]) -> dict[str, Any]:
    """`schema` as it is to arrive: LlamaIndex closes every object for Chat Completions."""
    return {**schema, "additionalProperties": False} if vendor == "openai" else dict(schema)


def answers_sent(blocks: Sequence[ContentBlock]) -> dict[str, Any]:
    """What is sent of a tool's answer, by vendor."""
    message = ChatMessage(role="tool", blocks=list(blocks), additional_kwargs={"tool_call_id": "1"})
    return {
        "openai": to_openai_message_dict(message)["content"],
        "responses": cast("Any", to_openai_responses_message_dict(message))["output"],
        "anthropic": blocks_to_anthropic_blocks(blocks, {}),
    }
