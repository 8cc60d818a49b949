"""What a developer got wrong is said at once, with its cure; nothing fails silently."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, CodeActAgent, FunctionAgent
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.objects import ObjectRetriever
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context, StartEvent, StopEvent, Workflow, step
from pydantic import BaseModel

from deferred_tools import Lazy
from deferred_tools.errors import ConfigurationError, RegistryBuildError
from llama_index.tools.deferred import DeferredTools, DeferredToolSession, DeferredToolState
from llama_index.tools.deferred.checks import check_workflows, memory_can_be_stored
from tests.support.llama_agents import Tools, agent_of, in_step, run
from tests.support.llama_model import ScriptedLLM
from tests.support.tools import MakeToolset


def agent(**fields: Any) -> FunctionAgent:
    return FunctionAgent(llm=ScriptedLLM.of("ok"), **fields)


# --- where they are attached


def test_an_agent_that_writes_code(toolset_of: MakeToolset) -> None:
    coder = CodeActAgent(llm=ScriptedLLM.of(), code_execute_fn=repr, name="coder")
    with pytest.raises(ConfigurationError, match=r"'coder' is a CodeActAgent.*use a FunctionAgent"):
        DeferredTools(toolset_of()).attach(coder)


class Index(ObjectRetriever[Any]):
    """A retriever of the user's own."""

    def __init__(self) -> None:
        """Without an index."""


def test_an_agent_that_has_a_retriever_already(toolset_of: MakeToolset) -> None:
    with pytest.raises(ConfigurationError, match="has a tool_retriever already"):
        DeferredTools(toolset_of()).attach(agent(tool_retriever=Index()))


@pytest.mark.parametrize("team", [False, True])
def test_attaching_twice(toolset_of: MakeToolset, team: bool) -> None:
    deferred, one = DeferredTools(toolset_of()), agent(name="one")
    deferred.attach(one)
    with pytest.raises(ConfigurationError, match="'one' has deferred tools already: attach them"):
        deferred.attach(AgentWorkflow(agents=[one]) if team else one)


def test_a_tool_of_the_agents_own_that_is_called_like_the_search(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    own = [functions.static("tool_search")]
    with pytest.raises(ConfigurationError, match="a tool of the agent 'Agent' is called 'tool_se"):
        DeferredTools(toolset_of()).attach(agent(tools=own))


def test_two_own_tools_with_one_name(toolset_of: MakeToolset, functions: Tools) -> None:
    own = [functions.static("always"), functions.static("always")]
    with pytest.raises(ConfigurationError, match="the agent 'Agent' has two tools called 'always'"):
        DeferredTools(toolset_of()).attach(agent(tools=own))


@pytest.mark.parametrize(
    ("name", "told"), [("tool_search", "one of your own tools is called"), ("always", "two bound")]
)
def test_own_tools_that_came_later(
    toolset_of: MakeToolset, functions: Tools, name: str, told: str
) -> None:
    one = DeferredTools(toolset_of()).attach(agent(tools=[functions.static("always")]))
    assert one.tools is not None
    one.tools.append(functions.static(name))
    with pytest.raises(ConfigurationError, match=told):
        run(one)


@pytest.mark.parametrize("scope", ["thread", "", "agents"])
def test_a_scope_that_is_none(toolset_of: MakeToolset, scope: str) -> None:
    with pytest.raises(ConfigurationError, match="`scope` must be one of"):
        DeferredTools(toolset_of(), scope=scope)


def test_an_inheritance_that_is_none(toolset_of: MakeToolset) -> None:
    with pytest.raises(ConfigurationError, match="`inherit` must be 'none', 'inherit' or a list"):
        DeferredTools(toolset_of(), inherit="all")


# --- what is installed


@pytest.mark.parametrize("installed", ["2.21.0", "2.22.4", "2.23.2", "2.23.0rc1"])
def test_workflows_that_take_seconds_for_a_call(installed: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"{installed} takes seconds.*>=2"):
        check_workflows(installed)


@pytest.mark.parametrize("installed", ["2.18.0", "2.20.9", "2.23.3", "2.23.3.post1", "2.26", "3.0"])
def test_workflows_that_do_not(installed: str) -> None:
    check_workflows(installed)


@pytest.fixture
def asked_anew() -> Iterator[None]:
    """Whether memory can be stored is asked once in a process; here anew."""
    memory_can_be_stored.cache_clear()
    yield
    memory_can_be_stored.cache_clear()


@pytest.mark.parametrize("error", [TypeError, ValueError])
@pytest.mark.usefixtures("asked_anew")
def test_a_pydantic_with_which_history_is_lost(
    toolset_of: MakeToolset, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    def fails(self: ChatMemoryBuffer) -> str:
        raise error("'index_key' is expected to be an integer or a string")

    monkeypatch.setattr(ChatMemoryBuffer, "model_dump_json", fails)
    deferred, one = DeferredTools(toolset_of()), agent()
    with pytest.warns(RuntimeWarning, match="Install pydantic<2") as told:
        deferred.attach(one)
    assert [one.filename for one in told] == [__file__]


# --- where they are used


class Bare(BaseModel):
    """A state of the user's own, without a place for ours."""

    count: int = 0


class Fitting(DeferredToolState):
    """The same with it."""

    count: int = 0


def test_a_typed_state_without_the_field_is_told_before_the_model_is_asked(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    toolset = toolset_of([functions.weather])

    class Mine(Workflow):
        @step
        async def only(self, ctx: Context[Bare], ev: StartEvent) -> StopEvent:
            with pytest.raises(ConfigurationError, match=r"from DeferredToolState.*'deferred_tool"):
                await DeferredToolSession(DeferredTools(toolset), ctx).tools()
            return StopEvent()

    asyncio.run(ran(Mine()))


def test_a_typed_state_with_the_field_holds_the_ledger(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    toolset = toolset_of([functions.weather])

    class Mine(Workflow):
        @step
        async def only(self, ctx: Context[Fitting], ev: StartEvent) -> StopEvent:
            session = DeferredToolSession(DeferredTools(toolset), ctx)
            await session.tools()
            await session.call("tool_search", {"names": ["get_weather"]})
            return StopEvent(result=[t.metadata.name for t in await session.tools()])

    assert asyncio.run(ran(Mine())) == ["tool_search", "get_weather"]


async def ran(workflow: Workflow) -> Any:
    return await workflow.run()


def test_a_deferred_tool_that_is_called_like_the_search(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    _, one = agent_of(toolset_of([functions.named("tool_search")]), "ok")
    with pytest.raises(RegistryBuildError, match="the search tool's own name: rename yours"):
        run(one)


def test_two_deferred_tools_with_one_name(toolset_of: MakeToolset, functions: Tools) -> None:
    _, one = agent_of(toolset_of([functions.weather, functions.weather]), "ok")
    with pytest.raises(RegistryBuildError, match="two tools are named 'get_weather'"):
        run(one)


def test_a_factory_that_fails_is_named_and_tried_again_at_the_next_use(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    def make_weather() -> Any:
        if not functions.ran:
            functions.ran.append("failed")
            raise OSError("no such file")
        return functions.weather

    llm, one = agent_of(toolset_of([Lazy(make_weather)]), "ok")
    with pytest.raises(ConfigurationError, match=r"make_weather' failed: OSError: no such file"):
        run(one)
    assert llm.asked == []
    run(one)
    assert "get_weather" in llm.asked[0].system


def test_a_function_that_takes_a_context_of_llama_indexs(toolset_of: MakeToolset) -> None:
    def count(ctx: Context, step: int) -> int:
        """Count up."""
        return step

    _, one = agent_of(toolset_of([count]), "ok")
    with pytest.raises(ConfigurationError, match="'count' has a parameter that no JSON can fill"):
        run(one)
    _, one = agent_of(toolset_of([FunctionTool.from_defaults(count)]), "ok")
    assert run(one).answer == "ok"


def test_a_bound_tool_that_is_called_without_await(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    deferred = DeferredTools(toolset_of([functions.weather]))

    async def call_it(ctx: Context) -> None:
        [search] = await DeferredToolSession(deferred, ctx).tools()
        with pytest.raises(ConfigurationError, match="'tool_search' is async only: use `acall`"):
            search.call("weather")

    in_step(call_it)


@pytest.mark.parametrize("given", ["{}", ["agent:Agent"]], ids=["text", "list"])
def test_something_that_is_no_snapshot(toolset_of: MakeToolset, given: Any) -> None:
    deferred = DeferredTools(toolset_of())
    one = FunctionAgent(llm=ScriptedLLM.of("ok"))
    with pytest.raises(ConfigurationError, match="a snapshot is an object, not of type"):
        asyncio.run(deferred.restore(Context(one), given))
