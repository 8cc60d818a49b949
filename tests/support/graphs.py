"""A graph as people build it by hand: a model, a tool node, and `tools_condition` between."""

from collections.abc import Callable
from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool
from langgraph.graph import END, START, StateGraph
from langgraph.prebuilt import tools_condition

from deferred_tools import Toolset
from langchain_deferred_tools.graph import DeferredToolsGraph
from tests.support.scripted_model import ScriptedModel


class Built:
    """A graph of a model and its tools; `builder` makes it from the deferred tools."""

    def __init__(
        self,
        toolset: Toolset,
        *script: AIMessage,
        builder: Callable[[DeferredToolsGraph], StateGraph[Any, Any, Any, Any]] | None = None,
        tools: tuple[BaseTool, ...] = (),
        caller: Any = None,
        route: str = "tools condition",
        **options: Any,
    ) -> None:
        self.model = ScriptedModel(script=list(script))
        self.deferred = DeferredToolsGraph(toolset, tools=tools, caller=caller)
        graph = (builder or DeferredToolsGraph.builder)(self.deferred)
        graph.add_node("model", self._think)
        graph.add_node("tools", self.deferred.tool_node())
        graph.add_edge(START, "model")
        condition: Any = self.deferred.each_call if route == "each call" else tools_condition
        graph.add_conditional_edges("model", condition, ["tools", END])
        graph.add_edge("tools", "model")
        self.graph: Any = graph.compile(**options)

    def _think(self, state: Any) -> dict[str, Any]:
        bound = self.model.bind_tools(self.deferred.bound(state))
        return {"messages": [bound.invoke(self.deferred.prompt(state))]}

    @property
    def bound(self) -> list[list[str]]:
        return [turn.tools for turn in self.model.turns]
