"""A LlamaIndex workflow as one tool of a toolset, its steps calling the tools that it uses."""

import asyncio
from typing import Any

import anyio
import pytest
from llama_index.core.workflow import (
    Context,
    Event,
    HumanResponseEvent,
    InputRequiredEvent,
    StartEvent,
    StopEvent,
    Workflow,
    WorkflowTimeoutError,
    step,
)
from pydantic import ConfigDict

from deferred_tools import Caller, Limits, Session, Settings, Toolset, ToolTag
from deferred_tools.errors import ConfigurationError, RegistryBuildError, ToolTimeoutError
from llama_index.tools.deferred.workflow import current_step, workflow_from
from tests.support.llama_agents import agent_of, run
from tests.support.llama_model import call, calls
from tests.support.tools import MakeToolset

FIND = calls(call("tool_search", names=["report"]))
CITIES = {"cities": ["Oslo", "Rome"]}
CALL = calls(call("report", **CITIES))
NO_ARGUMENTS: dict[str, Any] = {"type": "object", "properties": {}}


class Asked(StartEvent):
    cities: list[str]


class Reported(StopEvent):
    lines: list[str]


class Found(Event):
    lines: list[str]


class Report(Workflow):
    """Two steps, the first of which calls a tool for each city."""

    @step
    async def look(self, ctx: Context, ev: Asked) -> Found:
        await ctx.store.set("cities", ev.cities)
        found = [await current_step()("get_weather", {"city": city}) for city in ev.cities]
        return Found(lines=[result.text for result in found])

    @step
    async def tell(self, ctx: Context, ev: Found) -> Reported:
        return Reported(lines=[*ev.lines, str(await ctx.store.get("cities"))])


class Alone(Workflow):
    """Calls a tool that it does not say it uses, and lets what comes of it through."""

    @step
    async def reach(self, ev: Asked) -> StopEvent:
        return StopEvent(result=await current_step()("delete_all", {}))


class Careful(Workflow):
    @step
    async def look(self, ev: Asked) -> StopEvent:
        try:
            return StopEvent(result=await current_step()("get_weather", {"city": "Nowhere"}))
        except LookupError as error:
            return StopEvent(result=f"not found: {error}")


class Endless(Workflow):
    """Never comes to an end by itself; says when it has begun, and when it was stopped."""

    def __init__(self, timeout: float | None = None) -> None:
        super().__init__(timeout=timeout)
        self.begun = asyncio.Event()
        self.stopped = asyncio.Event()

    @step
    async def wait(self, ev: Asked) -> StopEvent:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.stopped.set()
        return StopEvent()


class Outer(Workflow):
    @step
    async def go(self, ev: Asked) -> StopEvent:
        return StopEvent(result=await Report().run(cities=ev.cities))


class AsksInItsGraph(Workflow):
    @step
    async def ask(self, ev: Asked) -> InputRequiredEvent:
        return InputRequiredEvent()

    @step
    async def tell(self, ev: HumanResponseEvent) -> StopEvent:
        return StopEvent()


class AsksInAStep(Workflow):
    @step
    async def ask(self, ctx: Context, ev: Asked) -> StopEvent:
        await ctx.wait_for_event(HumanResponseEvent, waiter_event=InputRequiredEvent())
        return StopEvent()


class Untold(Workflow):
    @step
    async def go(self, ev: StartEvent) -> StopEvent:
        return StopEvent(result={"text": ev.get("text")})


class AskedByHandle(StartEvent):
    model_config = ConfigDict(arbitrary_types_allowed=True)

    handle: asyncio.Event  # which no JSON can hold


class ByHandle(Workflow):
    @step
    async def go(self, ev: AskedByHandle) -> StopEvent:
        return StopEvent()


def get_weather(city: str) -> str:
    """Weather forecast for a city."""
    if city == "Nowhere":
        raise LookupError("no such city")
    return f"sunny in {city}"


def registered(toolset_of: MakeToolset, workflow: Workflow, **options: Any) -> Toolset:
    """A toolset with the workflow as the tool `report`."""
    made = workflow_from(
        workflow, name="report", uses=["get_weather"], description="Weather report."
    )
    return toolset_of([get_weather], **options).register_workflow_tools([made])


async def report(toolset: Toolset, **arguments: Any) -> Any:
    """Call it, without an agent around it."""
    root = Session(caller=Caller.root())
    session = toolset.search(root, {"names": ["report"]}).session
    return await toolset.acall(session, "report", arguments or CITIES)


def test_its_schemas_are_those_of_its_own_events() -> None:
    made = workflow_from(Report(), name="report")
    assert made.input_schema is not None
    assert made.input_schema["required"] == ["cities"]
    assert made.output_schema is not None
    assert list(made.output_schema["properties"]) == ["lines"]
    assert workflow_from(Careful(), name="report").output_schema is None


def test_an_agent_finds_it_and_calls_it(toolset_of: MakeToolset) -> None:
    _, agent = agent_of(registered(toolset_of, Report()), FIND, CALL, "ok")
    answer = run(agent).results[-1].tool_output
    assert not answer.is_error
    lines = ["sunny in Oslo", "sunny in Rome", "['Oslo', 'Rome']"]
    assert answer.raw_output["structured_content"] == {"lines": lines}


def test_code_that_is_not_async_calls_it(toolset_of: MakeToolset) -> None:
    toolset = registered(toolset_of, Report())
    session = toolset.search(Session(caller=Caller.root()), {"names": ["report"]}).session
    assert "sunny in Rome" in toolset.call(session, "report", CITIES).text


def test_runs_side_by_side_of_one_workflow_keep_to_themselves(toolset_of: MakeToolset) -> None:
    toolset = registered(toolset_of, Report())
    cities = [f"city {n}" for n in range(20)]

    async def all_of_them() -> list[Any]:
        return await asyncio.gather(*(report(toolset, cities=[city]) for city in cities))

    told = [result.structured["lines"] for result in asyncio.run(all_of_them())]
    assert told == [[f"sunny in {city}", str([city])] for city in cities]


def test_a_workflow_in_one_of_its_steps_calls_tools_too(toolset_of: MakeToolset) -> None:
    assert "sunny in Rome" in asyncio.run(report(registered(toolset_of, Outer()))).text


def test_its_tags_are_those_of_what_it_uses(toolset_of: MakeToolset) -> None:
    settings = Settings.from_dict({"tags": {"get_weather": ["untrusted_input"]}})
    toolset = registered(toolset_of, Report(), settings=settings)
    assert toolset.registry.tags_of(["report"]) == {ToolTag.UNTRUSTED_INPUT}


def test_arguments_that_do_not_fit_never_reach_it(toolset_of: MakeToolset) -> None:
    workflow = Endless()
    wrong = calls(call("report", cities=7))
    _, agent = agent_of(registered(toolset_of, workflow), FIND, wrong, "ok")
    assert run(agent).results[-1].tool_output.is_error
    assert not workflow.begun.is_set()


def test_a_tool_that_it_does_not_name_is_unknown_to_it(toolset_of: MakeToolset) -> None:
    _, agent = agent_of(registered(toolset_of, Alone()), FIND, CALL, "ok")
    name, is_error, text = run(agent).told[-1]
    assert (name, is_error) == ("report", True)
    assert "delete_all" not in text
    assert "one of its steps could not be run" in text


def test_a_step_may_handle_the_error_of_a_tool(toolset_of: MakeToolset) -> None:
    assert asyncio.run(report(registered(toolset_of, Careful()))).text == "not found: no such city"


def test_what_a_step_raises_is_told_as_any_tools_error(toolset_of: MakeToolset) -> None:
    nowhere = calls(call("report", cities=["Nowhere"]))
    _, agent = agent_of(registered(toolset_of, Report()), FIND, nowhere, CALL, "ok")
    ran = run(agent)
    _, is_error, text = ran.told[1]
    assert is_error
    assert "no such city" in text
    assert not ran.results[2].tool_output.is_error


def test_its_own_timeout_ends_it(toolset_of: MakeToolset) -> None:
    workflow = Endless(timeout=0.01)
    with pytest.raises(WorkflowTimeoutError):
        asyncio.run(report(registered(toolset_of, workflow)))
    assert workflow.stopped.is_set()


def test_the_time_that_any_call_has_ends_it_and_its_steps(toolset_of: MakeToolset) -> None:
    workflow = Endless()
    toolset = registered(toolset_of, workflow, limits=Limits(call_seconds=0.01))
    with pytest.raises(ToolTimeoutError):
        asyncio.run(report(toolset))
    assert workflow.stopped.is_set()


def test_a_call_that_is_cancelled_stops_its_steps(toolset_of: MakeToolset) -> None:
    workflow = Endless()
    toolset = registered(toolset_of, workflow)

    async def cancelled() -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(report, toolset)
            await workflow.begun.wait()
            group.cancel_scope.cancel()

    asyncio.run(cancelled())
    assert workflow.stopped.is_set()


def test_a_workflow_that_asks_a_human_is_no_tool() -> None:
    with pytest.raises(ConfigurationError, match="'report' waits for an event from outside"):
        workflow_from(AsksInItsGraph(), name="report")


def test_a_step_that_turns_out_to_wait_for_a_human_ends_the_call(toolset_of: MakeToolset) -> None:
    with pytest.raises(ConfigurationError, match="'report' waits for an event from outside"):
        asyncio.run(report(registered(toolset_of, AsksInAStep(timeout=None))))


@pytest.mark.parametrize("workflow", [Untold(), ByHandle()], ids=["untold", "no-json"])
def test_a_start_event_that_tells_no_arguments_needs_a_schema(workflow: Workflow) -> None:
    with pytest.raises(ConfigurationError, match="workflow 'report' does not tell its arguments"):
        workflow_from(workflow, name="report")
    made = workflow_from(workflow, name="report", input_schema=NO_ARGUMENTS)
    assert made.input_schema == NO_ARGUMENTS


def test_a_plain_start_event_is_given_the_arguments(toolset_of: MakeToolset) -> None:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    made = workflow_from(Untold(), name="report", input_schema=schema)
    toolset = toolset_of([]).register_workflow_tools([made])
    assert asyncio.run(report(toolset, text="hello")).structured == {"text": "hello"}


def test_a_tool_that_is_not_there_stops_the_start(toolset_of: MakeToolset) -> None:
    made = workflow_from(Report(), name="report", uses=["get_wether"])
    toolset = toolset_of([get_weather]).register_workflow_tools([made])
    with pytest.raises(RegistryBuildError, match="get_wether"):
        toolset.open()


def test_a_workflow_that_runs_by_itself_has_no_tools_to_call() -> None:
    async def alone() -> None:
        await Report().run(start_event=Asked(cities=["Oslo"]))

    with pytest.raises(ConfigurationError, match="not run as a tool"):
        asyncio.run(alone())
