"""The agent of the demo, and what it did, step by step."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware.types import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.errors import GraphRecursionError

from deferred_tools.errors import HostError
from deferred_tools.prompt import estimate_tokens
from deferred_tools.session import Session
from deferred_tools.spec import one_line
from deferred_tools.toolset import Toolset
from langchain_deferred_tools.bind import bind
from langchain_deferred_tools.demo.scene import Step
from langchain_deferred_tools.middleware import DeferredToolsMiddleware

_STEPS = 60
"""Of the graph, for a model that goes round in circles."""


@dataclass(frozen=True, slots=True)
class Surface:
    """What one call of the model carried of tools."""

    bound: tuple[str, ...]
    tokens: int
    """Of the block and the bound schemas, estimated."""


class Watch(AgentMiddleware[Any, Any, Any]):
    """Notes what each call of the model really carried. Innermost, so nothing changes after it."""

    def __init__(self) -> None:
        super().__init__()
        self.surfaces: list[Surface] = []

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Note the tools and the block, and name the model if it fails."""
        names = tuple(tool.name for tool in request.tools if isinstance(tool, BaseTool))
        block = request.system_message.text if request.system_message else ""
        tokens = surface_tokens(block, request.tools)
        self.surfaces.append(Surface(names, tokens))
        try:
            return handler(request)
        except Exception as error:
            told = f"{type(error).__name__}: {one_line(str(error), 300)}"
            raise HostError(f"the model did not answer: {told}") from error


def surface_tokens(block: str, tools: Iterable[Any]) -> int:
    """What a block and bound tools cost in one call of the model, estimated."""
    schemas = (json.dumps(convert_to_openai_tool(tool), ensure_ascii=False) for tool in tools)
    return estimate_tokens(block) + sum(map(estimate_tokens, schemas))


def all_schemas_tokens(toolset: Toolset) -> int:
    """What a call would carry with every tool bound up front."""
    nobody = Session()
    return surface_tokens("", (bind(toolset, nobody, entry) for entry in toolset.registry))


def run(
    toolset: Toolset, model: BaseChatModel, question: str, watch: Watch
) -> Iterator[BaseMessage]:
    """Run the agent; gives each message after the question, in the conversation's order.

    Raises:
        HostError: The model failed, or did not come to an end.
    """
    agent = create_agent(model, middleware=[DeferredToolsMiddleware(toolset), watch])
    asked: Any = {"messages": [HumanMessage(question)]}
    seen = 1
    try:
        for state in agent.stream(asked, {"recursion_limit": _STEPS}, stream_mode="values"):
            yield from state["messages"][seen:]
            seen = len(state["messages"])
    except GraphRecursionError:
        raise HostError(f"the model did not come to an end within {_STEPS} steps") from None


def shortcomings(steps: Sequence[Step], messages: Sequence[BaseMessage]) -> list[str]:
    """What was to be seen and was not; nothing if the demo worked."""
    calls = {m.name: m for m in messages if isinstance(m, ToolMessage)}
    found = []
    for step in steps:
        call = calls.get(step.tool)
        if call is None:
            found.append(f"{step.tool} was not called")
        elif (call.status == "error") is not step.refused:
            found.append(f"{step.tool} {'was not refused' if step.refused else 'failed'}")
    last = messages[-1] if messages else None
    if not isinstance(last, AIMessage) or not last.text:
        found.append("the model gave no answer")
    return found
