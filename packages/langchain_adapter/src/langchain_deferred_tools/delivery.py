"""What a model is given in one call: which tools are bound, and the level-1 block.

The one form so far binds enabled tools after the base tools, in first-enabled order, never
re-sorted, so that a prompt's prefix changes only when a search enables something. Forms that
providers offer themselves go beside it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AnyMessage, SystemMessage, ToolMessage
from langchain_core.tools import BaseTool

from deferred_tools.errors import ConfigurationError
from deferred_tools.own_names import own_names
from deferred_tools.search_request import NAME
from deferred_tools.session import Session
from deferred_tools.toolset import Toolset
from langchain_deferred_tools.bind import bind
from langchain_deferred_tools.search_tool import SearchTool
from langchain_deferred_tools.state import STATE_KEY, last_calls, messages_of, state_value

Bindable = BaseTool | dict[str, Any]


def tools_to_bind(toolset: Toolset, session: Session, base: Sequence[Bindable]) -> list[Bindable]:
    """`base`, then what `session` has enabled.

    Raises:
        ConfigurationError: Two tools share a name, where a model or a tool node would take
            one of them silently.
    """
    names = (_name(tool) for tool in base if not isinstance(tool, SearchTool))
    taken = own_names(toolset.registry, names)
    enabled = (entry for entry in toolset.bound(session) if entry.spec.name not in taken)
    return [*base, *(bind(toolset, session, entry) for entry in enabled)]


def with_block(system: SystemMessage | None, block: str) -> SystemMessage | None:
    """`system` with the level-1 block as its last part."""
    if not block:
        return system
    part = {"type": "text", "text": block}
    if system is None:
        return SystemMessage(content=[part])
    content = system.content
    before = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
    return system.model_copy(update={"content": [*before, part]})


def prompted(messages: Sequence[AnyMessage], block: str) -> list[AnyMessage]:
    """`messages` with the level-1 block in the system message that they begin with."""
    first = messages[0] if messages and isinstance(messages[0], SystemMessage) else None
    system = with_block(first, block)
    rest = messages if first is None else messages[1:]
    return [*rest] if system is None else [system, *rest]


def check_state(state: object) -> None:
    """See that a state in which something was enabled has a ledger.

    Raises:
        ConfigurationError: It has none: LangGraph drops what its schema does not name.
    """
    if state_value(state, STATE_KEY) is not None:
        return
    _, answers = last_calls(messages_of(state))
    for message in answers:
        if isinstance(message, ToolMessage) and message.name == NAME:
            told = message.artifact if isinstance(message.artifact, dict) else {}
            if enabled := told.get("enabled"):
                raise ConfigurationError(
                    f"{NAME!r} enabled {enabled}, but the graph's state does not hold it: its "
                    f"schema has no key {STATE_KEY!r}. Derive it from DeferredMessagesState"
                )


def _name(tool: Bindable) -> str:
    if isinstance(tool, BaseTool):
        return tool.name
    function = tool.get("function")
    named = function if isinstance(function, Mapping) else tool
    return str(named.get("name") or tool.get("type") or "")
