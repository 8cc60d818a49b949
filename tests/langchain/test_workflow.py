"""A LangGraph graph as one tool of a toolset, its nodes calling the tools that it uses."""

from operator import add
from typing import Annotated, Any

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, MessagesState, StateGraph
from typing_extensions import TypedDict

from deferred_tools import Settings, Toolset, ToolTag
from deferred_tools.errors import ConfigurationError, RegistryBuildError
from langchain_deferred_tools import Conversation
from langchain_deferred_tools.workflow import step_of, workflow_from_graph
from tests.support.agents import MakeToolset, Runner, agent_of, answers, thread, told
from tests.support.scripted_model import call, says

DONE = says(text="ok")
FIND = says(call("tool_search", names=["report"]))
CALL = says(call("report", cities=["Oslo", "Rome"]))


class Asked(TypedDict):
    cities: list[str]


class Reported(TypedDict):
    lines: list[str]


class Working(Asked):
    lines: Annotated[list[str], add]


async def look(state: Working, config: RunnableConfig) -> dict[str, Any]:
    step = step_of(config)
    found = [await step("get_weather", {"city": city}) for city in state["cities"]]
    return {"lines": [result.text for result in found]}


def graph(node: Any = look, **options: Any) -> Any:
    builder = StateGraph(Working, input_schema=Asked, output_schema=Reported)
    builder.add_node("look", node)
    builder.add_edge(START, "look")
    builder.add_edge("look", END)
    return builder.compile(**options)


def get_weather(city: str) -> str:
    """Weather forecast for a city."""
    if city == "Nowhere":
        raise LookupError("no such city")
    return f"sunny in {city}"


def registered(toolset_of: MakeToolset, node: Any = look, **options: Any) -> Toolset:
    """A toolset with the graph as the workflow `report`."""
    toolset = toolset_of([get_weather], **options)
    workflow = workflow_from_graph(
        graph(node), name="report", uses=["get_weather"], description="Weather report."
    )
    return toolset.register_workflow_tools([workflow])


def test_its_schemas_are_those_of_the_graph() -> None:
    workflow = workflow_from_graph(graph(), name="report")
    assert workflow.input_schema is not None
    assert workflow.input_schema["required"] == ["cities"]
    assert workflow.output_schema is not None
    assert list(workflow.output_schema["properties"]) == ["lines"]


def test_an_agent_finds_it_and_calls_it(run: Runner, toolset_of: MakeToolset) -> None:
    _, agent = agent_of([FIND, CALL, DONE], registered(toolset_of))
    answer = answers(run(agent))[-1]
    assert answer.artifact["structured_content"] == {"lines": ["sunny in Oslo", "sunny in Rome"]}


@pytest.mark.parametrize("saver", ["memory", "sqlite"])
def test_it_runs_beside_a_checkpointer_of_the_agent_s(toolset_of: MakeToolset, saver: str) -> None:
    # One that is not async, while the workflow is: its graph must not take it over.
    script = [FIND, CALL, DONE, CALL, DONE]
    with SqliteSaver.from_conn_string(":memory:") as sqlite:
        store = sqlite if saver == "sqlite" else InMemorySaver()
        _, agent = agent_of(script, registered(toolset_of), checkpointer=store)
        run = Runner("sync")
        run(agent, "one", thread())
        assert "sunny in Rome" in told(run(agent, "two", thread()))[-1][2]


def test_a_plain_loop_calls_it(toolset_of: MakeToolset) -> None:
    chat = Conversation(registered(toolset_of))
    chat.run(FIND)
    assert "sunny in Oslo" in chat.run(CALL)[0].text


def test_its_tags_are_those_of_what_it_uses(toolset_of: MakeToolset) -> None:
    settings = Settings.from_dict({"tags": {"get_weather": ["untrusted_input"]}})
    toolset = registered(toolset_of, settings=settings)
    assert toolset.registry.tags_of(["report"]) == {ToolTag.UNTRUSTED_INPUT}


def test_arguments_that_do_not_fit_never_reach_the_graph(
    run: Runner, toolset_of: MakeToolset
) -> None:
    ran: list[Any] = []
    toolset = registered(toolset_of, ran.append)
    _, agent = agent_of([FIND, says(call("report", cities=7)), DONE], toolset)
    assert answers(run(agent))[-1].status == "error"
    assert ran == []


def test_a_tool_that_it_does_not_name_is_unknown_to_it(
    run: Runner, toolset_of: MakeToolset
) -> None:
    async def reach(state: Working, config: RunnableConfig) -> dict[str, Any]:
        await step_of(config)("delete_all", {})
        return {"lines": ["deleted"]}

    _, agent = agent_of([FIND, CALL, DONE], registered(toolset_of, reach))
    name, status, text = told(run(agent))[-1]
    assert (name, status) == ("report", "error")
    assert "delete_all" not in text
    assert "one of its steps could not be run" in text


def test_a_node_may_handle_the_error_of_a_step(run: Runner, toolset_of: MakeToolset) -> None:
    async def careful(state: Working, config: RunnableConfig) -> dict[str, Any]:
        try:
            await step_of(config)("get_weather", {"city": "Nowhere"})
        except LookupError as error:
            return {"lines": [f"not found: {error}"]}
        return {"lines": []}

    _, agent = agent_of([FIND, CALL, DONE], registered(toolset_of, careful))
    assert "not found: no such city" in answers(run(agent))[-1].text


def test_an_input_that_is_no_plain_json_needs_a_schema() -> None:
    builder = StateGraph(MessagesState)
    builder.add_node("think", lambda state: {})
    builder.add_edge(START, "think")
    with pytest.raises(ConfigurationError, match="'chat' is not plain JSON"):
        workflow_from_graph(builder.compile(), name="chat")
    schema = {"type": "object", "properties": {"messages": {"type": "array"}}}
    assert workflow_from_graph(builder.compile(), name="chat", input_schema=schema)


def test_a_tool_that_is_not_there_stops_the_start(toolset_of: MakeToolset) -> None:
    workflow = workflow_from_graph(graph(), name="report", uses=["get_wether"])
    toolset = toolset_of([get_weather]).register_workflow_tools([workflow])
    with pytest.raises(RegistryBuildError, match="get_wether"):
        toolset.open()


def test_a_graph_that_runs_by_itself_has_no_steps() -> None:
    with pytest.raises(ConfigurationError, match="not run as a workflow"):
        Runner("async")(graph(), {"cities": ["Oslo"]})
