"""What would fail silently, or much later, in an agent that deferred tools are attached to."""

import functools
import warnings
from collections.abc import Iterable
from importlib.metadata import version

from llama_index.core.agent.workflow import BaseWorkflowAgent, CodeActAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import BaseTool

from deferred_tools.errors import ConfigurationError
from deferred_tools.search_request import NAME
from llama_index.tools.deferred.retriever import CallRetriever

_SLOW = ((2, 21), (2, 23, 3))
"""Versions of llama-index-workflows, from and before, with which a tool call takes seconds."""


def check_agent(agent: BaseWorkflowAgent) -> None:
    """See that deferred tools can be attached to `agent`.

    Raises:
        ConfigurationError: They cannot; the message says what to do.
    """
    if isinstance(agent, CodeActAgent):
        raise ConfigurationError(
            f"the agent {agent.name!r} is a CodeActAgent, which writes code instead of calling "
            "tools by name, so it cannot search for them: use a FunctionAgent or a ReActAgent"
        )
    if isinstance(agent.tool_retriever, CallRetriever):
        raise ConfigurationError(
            f"the agent {agent.name!r} has deferred tools already: attach them once, and share "
            "the agent"
        )
    if agent.tool_retriever is not None:
        raise ConfigurationError(
            f"the agent {agent.name!r} has a tool_retriever already, and LlamaIndex asks only "
            "one: leave it out, and give the tools behind it to the Toolset, which searches them"
        )
    _check_names(agent.name, (tool for tool in agent.tools or [] if isinstance(tool, BaseTool)))
    check_workflows(version("llama-index-workflows"))
    if not memory_can_be_stored():
        warnings.warn(
            "with the installed pydantic, LlamaIndex cannot store its ChatMemoryBuffer: an "
            "agent's history is dropped in its second run, and a run that waits for a human "
            "cannot be resumed. Install pydantic<2.14, or a llama-index-core that mends it",
            RuntimeWarning,
            stacklevel=3,
        )


def _check_names(agent: str, tools: Iterable[BaseTool]) -> None:
    names: set[str | None] = set()
    for tool in tools:
        name = tool.metadata.name
        if name == NAME:
            raise ConfigurationError(
                f"a tool of the agent {agent!r} is called {NAME!r}, as the tool that finds "
                "deferred tools is: rename it"
            )
        if name in names:
            raise ConfigurationError(
                f"the agent {agent!r} has two tools called {name!r}, of which LlamaIndex would "
                "run the second: rename one of them"
            )
        names.add(name)


def check_workflows(installed: str) -> None:
    """See that the `installed` version of llama-index-workflows can be worked with.

    Raises:
        ConfigurationError: It cannot; the message says which can.
    """
    numbers = tuple(int(part) for part in installed.split(".")[:3] if part.isdecimal())
    if _SLOW[0] <= numbers < _SLOW[1]:
        raise ConfigurationError(
            f"llama-index-workflows {installed} takes seconds for each tool call, and empties "
            "the user's memory: install llama-index-workflows>=2.23.3"
        )


@functools.cache
def memory_can_be_stored() -> bool:
    """Whether LlamaIndex can write the memory that its agents have by default."""
    memory = ChatMemoryBuffer.from_defaults(
        token_limit=100, chat_history=[ChatMessage(role="user", content="hello")]
    )
    try:
        memory.model_dump_json()
    except (TypeError, ValueError):  # pydantic's own error is one of the latter
        return False
    return True
