"""`return_direct`, alone and in company: late-bound tools end a run as early-bound ones do."""

from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    ToolCallLimitMiddleware,
    hook_config,
)
from langchain_core.messages import ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from deferred_tools import Lazy, Toolset
from langchain_deferred_tools.middleware import DeferredToolsMiddleware
from tests.support.agents import MakeToolset, Runner, Tools, agent_of, answers, thread
from tests.support.scripted_model import ScriptedModel, call, says


@tool(return_direct=True)
def report(title: str) -> str:
    """Write the report."""
    return f"REPORT {title}"


@tool
def lookup(word: str) -> str:
    """Look a word up."""
    return f"{word} is a word"


@tool
def command(word: str, call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
    """Answer with a command."""
    return Command(update={"messages": [ToolMessage(f"did {word}", tool_call_id=call_id)]})


DEFERRED = [report, lookup, command]
ENABLE = says(call("tool_search", names=[one.name for one in DEFERRED]))
MODEL = ScriptedModel()
GOES_ON = says(text="the model saw it")


def outcome(run: Runner, toolset: Toolset, *calls: Any, **options: Any) -> tuple[str, int]:
    """The text that the run ended with, and how often the model was asked."""
    tools = Tools()
    model, agent = agent_of(
        [ENABLE, says(*calls), GOES_ON],
        toolset,
        tools=[tools.static("direct", return_direct=True), tools.static("plain")],
        **options,
    )
    output = run(agent)
    return str(output["messages"][-1].text), len(model.turns)


def test_a_direct_tool_alone_ends_the_run(run: Runner, toolset_of: MakeToolset) -> None:
    made = outcome(run, toolset_of(DEFERRED), call("report", title="T"))
    assert made == ("REPORT T", 2)


def test_direct_tools_side_by_side_end_the_run(run: Runner, toolset_of: MakeToolset) -> None:
    made = outcome(run, toolset_of(DEFERRED), call("report", title="1"), call("report", title="2"))
    assert made == ("REPORT 2", 2)


def test_a_direct_tool_beside_a_direct_one_of_the_agent_ends_the_run(
    run: Runner, toolset_of: MakeToolset
) -> None:
    made = outcome(run, toolset_of(DEFERRED), call("direct", text="1"), call("report", title="2"))
    assert made == ("REPORT 2", 2)


@pytest.mark.parametrize(
    "calls",
    [
        (call("report", title="1"), call("lookup", word="2")),
        (call("report", title="1"), call("command", word="2")),
        (call("report", title="1"), call("plain", text="2")),
        (call("report", title="1"), call("tool_search", names=["lookup"])),
        (call("direct", text="1"), call("lookup", word="2")),
        (call("direct", text="1"), call("command", word="2")),
        (call("direct", text="1"), call("unknown", word="2")),
        (call("direct", text="1"), call("lookup", word=[])),
        (call("report", title="1"), call("unknown", word="2")),
        (call("direct", text="1"), call("plain", text="2")),
    ],
    ids=lambda calls: "+".join(one["name"] for one in calls),
)
def test_a_direct_tool_beside_one_that_is_not_lets_the_model_go_on(
    run: Runner, toolset_of: MakeToolset, calls: Any
) -> None:
    assert outcome(run, toolset_of(DEFERRED), *calls) == ("the model saw it", 3)


def test_a_direct_tool_that_fails_lets_the_model_correct_itself(
    run: Runner, toolset_of: MakeToolset
) -> None:
    made = outcome(run, toolset_of(DEFERRED), call("report", title=[]))
    assert made == ("the model saw it", 3)


def test_the_turn_after_a_direct_answer_begins_afresh(run: Runner, toolset_of: MakeToolset) -> None:
    script = [ENABLE, says(call("report", title="T")), says(text="hello again")]
    _, agent = agent_of(script, toolset_of(DEFERRED), checkpointer=InMemorySaver())
    assert run(agent, "one", thread())["messages"][-1].text == "REPORT T"
    assert run(agent, "two", thread())["messages"][-1].text == "hello again"


def test_two_direct_tools_of_the_agent_end_the_run_whatever_they_answer(
    run: Runner, toolset_of: MakeToolset
) -> None:
    made = outcome(run, toolset_of(DEFERRED), call("direct", text=[]), call("direct", text="2"))
    assert made == ("direct 2", 2)


@pytest.mark.parametrize("place", ["before", "after"])
def test_a_direct_tool_beside_a_call_that_a_limit_stopped_lets_the_model_go_on(
    run: Runner, toolset_of: MakeToolset, place: str
) -> None:
    limit = ToolCallLimitMiddleware(tool_name="lookup", run_limit=1)
    calls = call("direct", text="1"), call("lookup", word="2"), call("lookup", word="3")
    made = outcome(run, toolset_of(DEFERRED), *calls, **{place: [limit]})
    assert made == ("the model saw it", 3)
    limit = ToolCallLimitMiddleware(tool_name="lookup", run_limit=0)
    made = outcome(run, toolset_of(DEFERRED), *calls[:2], **{place: [limit]})
    assert made == ("the model saw it", 3)


class Stop(AgentMiddleware[Any, Any, Any]):
    """Ends the run before the third call of the model, without a word."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        self.asked += 1
        return {"jump_to": "end"} if self.asked > 2 else None


@pytest.mark.parametrize("first", [True, False], ids=["before ours", "after ours"])
def test_other_middleware_may_end_the_run_all_the_same(
    run: Runner, toolset_of: MakeToolset, first: bool
) -> None:
    stop = Stop()
    made = outcome(
        run,
        toolset_of(DEFERRED),
        call("direct", text="1"),
        call("lookup", word="2"),
        **{"before" if first else "after": [stop]},
    )
    assert made == ("2 is a word", 2)
    assert stop.asked == 3


def test_the_run_leaves_each_answer_once(run: Runner, toolset_of: MakeToolset) -> None:
    tools = Tools()
    script = [ENABLE, says(call("direct", text="1"), call("lookup", word="2")), GOES_ON]
    static = tools.static("direct", return_direct=True)
    _, agent = agent_of(script, toolset_of(DEFERRED), tools=[static])
    output = run(agent)
    assert [m.text for m in answers(output)[1:]] == ["direct 1", "2 is a word"]
    assert tools.ran == ["direct"]


def test_a_toolset_without_such_tools_costs_no_node_for_them(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    plain = DeferredToolsMiddleware(toolset_of([functions.weather]))
    direct = DeferredToolsMiddleware(toolset_of([functions.weather, report]))
    lazy = DeferredToolsMiddleware(toolset_of([Lazy(lambda: report)]))
    nodes = [
        "DeferredToolsMiddleware.before_model" in create_agent(MODEL, middleware=[m]).nodes
        for m in (plain, direct, lazy)
    ]
    assert nodes == [False, True, True]
    assert plain.name == direct.name == "DeferredToolsMiddleware"
