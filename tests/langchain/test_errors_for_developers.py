"""What a developer got wrong is said at once, with its cure; nothing fails silently."""

from typing import Any, NotRequired

import pytest
from langchain.agents import AgentState, create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.tools import StructuredTool

from deferred_tools import Lazy
from deferred_tools.errors import ConfigurationError, RegistryBuildError
from langchain_deferred_tools.middleware import DeferredToolsMiddleware
from langchain_deferred_tools.search_tool import SearchTool
from tests.support.agents import MakeToolset, Runner, Tools, agent_of, told
from tests.support.scripted_model import ScriptedModel, call, says


def test_a_tool_both_in_the_agent_and_in_the_toolset(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    own = [functions.static("get_weather")]
    _, agent = agent_of([says(text="ok")], toolset_of([functions.weather]), tools=own)
    with pytest.raises(ConfigurationError, match="'get_weather' is both bound to the agent and in"):
        run(agent)


def test_two_deferred_tools_with_one_name(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    _, agent = agent_of([says(text="ok")], toolset_of([functions.weather, functions.weather]))
    with pytest.raises(RegistryBuildError, match="two tools are named 'get_weather'"):
        run(agent)


def test_two_bound_tools_with_one_name(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    twice = {"type": "function", "function": {"name": "always", "parameters": {}}}
    own = [functions.static("always"), twice]
    _, agent = agent_of([says(text="ok")], toolset_of([functions.weather]), tools=own)
    with pytest.raises(ConfigurationError, match="two bound tools are called 'always'"):
        run(agent)


def test_a_tool_of_the_agents_own_that_is_called_like_the_search(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    own = [functions.static("tool_search")]
    _, agent = agent_of([says(text="ok")], toolset_of([functions.weather]), tools=own)
    with pytest.raises(ConfigurationError, match="one of your own tools is called 'tool_search'"):
        run(agent)


def test_a_deferred_tool_that_is_called_like_the_search(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    _, agent = agent_of([says(text="ok")], toolset_of([functions.named("tool_search")]))
    with pytest.raises(RegistryBuildError, match="the search tool's own name: rename yours"):
        run(agent)


def test_all_that_is_wrong_with_names_is_said_together(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    wrong = [functions.named("tool_search"), functions.weather, functions.weather]
    _, agent = agent_of([says(text="ok")], toolset_of(wrong))
    with pytest.raises(RegistryBuildError) as caught:
        run(agent)
    assert len(caught.value.problems) == 2


SEARCH = [says(call("tool_search", names=["get_weather"])), says(text="ok")]


class NoReducer(AgentState[Any]):
    """Declares our key again."""

    deferred_tools: NotRequired[dict[str, Any]]


class OtherMiddleware(AgentMiddleware[Any, Any, Any]):
    """Declares our key again."""

    state_schema = NoReducer


@pytest.mark.parametrize(
    "options", [{"state_schema": NoReducer}, {"after": [OtherMiddleware()]}], ids=["state", "other"]
)
def test_a_state_that_declares_our_key_again_without_the_reducer(
    run: Runner, toolset_of: MakeToolset, functions: Tools, options: dict[str, Any]
) -> None:
    _, agent = agent_of(SEARCH, toolset_of([functions.weather]), **options)
    with pytest.raises(ConfigurationError, match="has lost its reducer"):
        run(agent)


class Keyless(DeferredToolsMiddleware):
    """Has a state of its own, and forgets our key."""

    state_schema: Any = AgentState


def test_a_state_without_our_key(run: Runner, toolset_of: MakeToolset, functions: Tools) -> None:
    ours = Keyless(toolset_of([functions.weather]))
    agent = create_agent(ScriptedModel(script=SEARCH), middleware=[ours])
    with pytest.raises(ConfigurationError, match="its schema has no key 'deferred_tools'"):
        run(agent)


def test_two_instances_of_the_middleware(toolset_of: MakeToolset, functions: Tools) -> None:
    toolset = toolset_of([functions.weather])
    twice = [DeferredToolsMiddleware(toolset), DeferredToolsMiddleware(toolset)]
    with pytest.raises(AssertionError, match="remove duplicate middleware"):
        create_agent(ScriptedModel(), middleware=twice)


def async_only(ran: list[str]) -> StructuredTool:
    async def fetch(url: str) -> str:
        """Fetch a page."""
        ran.append(url)
        return f"the page {url}"

    return StructuredTool.from_function(coroutine=fetch)


def test_a_langchain_tool_that_is_async_only_runs_in_ainvoke_and_says_so_in_invoke(
    run: Runner, toolset_of: MakeToolset
) -> None:
    ran: list[str] = []
    script = [
        says(call("tool_search", names=["fetch"])),
        says(call("fetch", url="a")),
        says(text="ok"),
    ]
    _, agent = agent_of(script, toolset_of([async_only(ran)]))
    if run.colour == "async":
        assert told(run(agent))[-1][2] == "the page a"
    else:
        with pytest.raises(ConfigurationError, match="'fetch' is async only") as caught:
            run(agent)
        assert "ainvoke" in str(caught.value)
        assert ran == []


def test_an_async_only_tool_of_the_agents_own_is_told_in_the_same_words(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    script = [says(call("fetch", url="a")), says(text="ok")]
    _, agent = agent_of(script, toolset_of([functions.weather]), tools=[async_only([])])
    with pytest.raises(ConfigurationError, match="'fetch' is async only"):
        Runner("sync")(agent)


def test_an_async_function_runs_in_both(run: Runner, toolset_of: MakeToolset) -> None:
    async def fetch(url: str) -> str:
        """Fetch a page."""
        return f"the page {url}"

    script = [
        says(call("tool_search", names=["fetch"])),
        says(call("fetch", url="a")),
        says(text="ok"),
    ]
    _, agent = agent_of(script, toolset_of([fetch]))
    assert told(run(agent))[-1][2] == "the page a"


def test_a_factory_that_fails_is_named_and_tried_again_at_the_next_use(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    def make_weather() -> Any:
        if not functions.ran:
            functions.ran.append("failed")
            raise OSError("no such file")
        return functions.weather

    model, agent = agent_of([says(text="ok")], toolset_of([Lazy(make_weather)]))
    with pytest.raises(ConfigurationError, match=r"make_weather' failed: OSError: no such file"):
        run(agent)
    assert model.turns == []
    run(agent)
    assert "get_weather" in model.turns[0].system


def test_a_thing_that_is_no_tool(run: Runner, toolset_of: MakeToolset) -> None:
    _, agent = agent_of([says(text="ok")], toolset_of([object()]))
    with pytest.raises(ConfigurationError, match="is not a tool"):
        run(agent)


def test_an_async_function_cannot_tell_the_caller(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    async def look_up(context: Any, config: Any) -> None:
        """Looks the caller up."""

    caller: Any = look_up
    with pytest.raises(ConfigurationError, match="must not be async"):
        DeferredToolsMiddleware(toolset_of([functions.weather]), caller=caller)


def test_the_search_run_without_its_gate_says_what_to_use() -> None:
    with pytest.raises(ConfigurationError, match="was run without its gate"):
        SearchTool().invoke({"query": "weather"})
