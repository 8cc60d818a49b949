"""Deferred tools in a hand-built LangGraph: needs the extra `langgraph`."""

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, ClassVar, TypedDict, get_origin, get_type_hints

from langchain_core.messages import AnyMessage, ToolCall
from langchain_core.tools import BaseTool
from langgraph.config import get_config
from langgraph.graph import END, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.prebuilt.tool_node import ToolCallWithContext
from langgraph.runtime import get_runtime
from langgraph.types import Send

from deferred_tools.errors import ConfigurationError
from deferred_tools.nesting import Inheritance
from deferred_tools.policy import Caller
from deferred_tools.session import Session
from deferred_tools.toolset import Toolset
from langchain_deferred_tools.delivery import Bindable, check_state, prompted, tools_to_bind
from langchain_deferred_tools.gate import CallerOf, Gate
from langchain_deferred_tools.search_tool import SearchTool
from langchain_deferred_tools.state import STATE_KEY, last_calls, merge_sessions, messages_of


class DeferredMessagesState(MessagesState):
    """Messages and the conversation's ledger. Extend it for more.

    Compile it with an input schema that lacks the ledger, as `DeferredToolsGraph.builder` does,
    or a client could enable tools through the graph's input.
    """

    deferred_tools: Annotated[dict[str, Any], merge_sessions]


class DeferredToolsGraph:
    """What a graph needs: a builder, a tool node, and the tools and messages of a model call.

    deferred = DeferredToolsGraph(toolset, tools=[...])
    graph = deferred.builder()
    graph.add_node("model", lambda state: {"messages": [
        model.bind_tools(deferred.bound(state)).invoke(deferred.prompt(state))]})
    graph.add_node("tools", deferred.tool_node())
    """

    def __init__(
        self,
        toolset: Toolset,
        *,
        tools: Sequence[BaseTool] = (),
        caller: Caller | CallerOf | None = None,
        inherit: str | Collection[str] = "none",
    ) -> None:
        """Take a toolset, the tools that are always bound, and who runs the graph.

        `caller` and `inherit` are as for `DeferredToolsMiddleware`.
        """
        self._toolset = toolset
        self._base: list[BaseTool] = [SearchTool(), *tools]
        caller = Caller.root() if caller is None else caller
        self._gate = Gate(toolset, caller, Inheritance.of(inherit), alone=False)

    def builder(self, state_schema: type = DeferredMessagesState) -> StateGraph[Any, Any, Any, Any]:
        """A graph builder whose input is the state without the ledger: clients cannot enable tools.

        Raises:
            ConfigurationError: The state has no ledger.
        """
        return StateGraph(state_schema, input_schema=_input_of(state_schema))

    def bound(self, state: object) -> list[Bindable]:
        """What to bind to the model; call it within a node.

        Raises:
            ConfigurationError: Two tools share a name, or the state cannot hold the ledger.
        """
        check_state(state)
        return tools_to_bind(self._toolset, self._session(state), self._base)

    def prompt(self, state: object) -> list[AnyMessage]:
        """The state's messages with the level-1 block in the system message."""
        block = self._toolset.prompt(self._session(state).caller)
        return prompted(messages_of(state), block)

    def tool_node(self, **options: Any) -> ToolNode:
        """A ToolNode for `tools`, `tool_search` and everything enabled; `options` are its own."""
        return ToolNode(
            self._base, wrap_tool_call=self._gate.run, awrap_tool_call=self._gate.arun, **options
        )

    def each_call(self, state: object) -> list[Send] | str:
        """Where to go after the model: each call to a run of the node "tools" of its own, or END.

        In place of `tools_condition`: so that a call that waits for the host does not make those
        beside it run twice.
        """
        message, _ = last_calls(messages_of(state))
        calls = message.tool_calls if message else []
        return [Send("tools", _one_call(call, state)) for call in calls] or END

    def _session(self, state: object) -> Session:
        config: Mapping[str, Any] = dict(get_config())
        return self._gate.session(state, get_runtime().context, config)


def _one_call(call: ToolCall, state: Any) -> ToolCallWithContext:
    return {"__type": "tool_call_with_context", "tool_call": call, "state": state}


def _input_of(state_schema: type) -> type:
    hints = get_type_hints(state_schema, include_extras=True)
    if STATE_KEY not in hints:
        raise ConfigurationError(
            f"the state {state_schema.__name__!r} has no key {STATE_KEY!r}, so nothing that a "
            "search enables would be kept: derive it from DeferredMessagesState"
        )
    # Not among the channels are managed values, which no input may have.
    given = {
        key: hints[key]
        for key in StateGraph(state_schema).channels
        if key != STATE_KEY and get_origin(hints[key]) is not ClassVar
    }
    typed_dict: Any = TypedDict  # which type checkers only know with literal keys
    schema: type = typed_dict(f"{state_schema.__name__}Input", given)
    return schema
