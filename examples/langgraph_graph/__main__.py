"""A hand-built LangGraph: a ToolNode that guards, and a state that remembers."""

from typing import Any

from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START
from langgraph.prebuilt import tools_condition

from deferred_tools import Toolset
from examples.scripted import answers, call, says, script
from langchain_deferred_tools.graph import DeferredMessagesState, DeferredToolsGraph


def book_table(name: str, people: int) -> str:
    """Book a table in the restaurant."""
    return f"table for {people}, {name}"


def main() -> None:
    """Run the story and check it."""
    model = script(
        says("", call("tool_search", query="book a table")),
        says("What is your name?"),
        says("", call("book_table", name="Ann", people=2)),
        says("Done."),
    )
    with Toolset.from_sources([book_table]) as toolset:
        deferred = DeferredToolsGraph(toolset)

        def think(state: DeferredMessagesState) -> dict[str, Any]:
            bound = model.bind_tools(deferred.bound(state))
            return {"messages": [bound.invoke(deferred.prompt(state))]}

        builder = deferred.builder()
        builder.add_node("model", think)
        builder.add_node("tools", deferred.tool_node())
        builder.add_edge(START, "model")
        builder.add_conditional_edges("model", tools_condition, ["tools", END])
        builder.add_edge("tools", "model")
        graph = builder.compile(checkpointer=InMemorySaver())

        thread: Any = {"configurable": {"thread_id": "1"}}
        graph.invoke({"messages": [("user", "A table for two, please")]}, thread)
        state = graph.invoke({"messages": [("user", "Ann")]}, thread)

    print("answer:", answers(state["messages"])[-1])
    assert answers(state["messages"])[-1] == "table for 2, Ann"  # enabled in the turn before


if __name__ == "__main__":
    main()
