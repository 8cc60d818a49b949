"""Reviewers decide about calls of deferred tools; no decision ends the run or opens the gate."""

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, InterruptOnConfig
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver

from langchain_deferred_tools.middleware import DeferredToolsMiddleware
from tests.support.agents import MakeToolset, Runner, Tools, answers
from tests.support.review import APPROVE, Mode, Review, edit, email_script, review
from tests.support.scripted_model import ScriptedModel, call, says

MODES = pytest.mark.parametrize("mode", ["batched", "per_call"])
OURS_FIRST = pytest.mark.parametrize("ours_first", [True, False], ids=["ours,hitl", "hitl,ours"])


@MODES
@OURS_FIRST
def test_an_approved_call_runs(
    run: Runner, toolset_of: MakeToolset, tools: Tools, mode: Mode, ours_first: bool
) -> None:
    toolset = toolset_of([tools.email])
    _, waiting = review(run, toolset, email_script(), mode=mode, ours_first=ours_first)
    assert waiting.asked == ["send_email"]
    assert tools.ran == []
    assert waiting.decide(APPROVE)[-1] == ("send_email", "success", "sent to a")
    assert tools.ran == ["send_email"]


@MODES
@OURS_FIRST
def test_an_edited_call_runs_as_edited(
    run: Runner, toolset_of: MakeToolset, tools: Tools, mode: Mode, ours_first: bool
) -> None:
    toolset = toolset_of([tools.email])
    _, waiting = review(run, toolset, email_script(), mode=mode, ours_first=ours_first)
    name, status, text = waiting.decide(edit("send_email", to="b"))[-1]
    assert (name, status) == ("send_email", "success")
    assert text.endswith("sent to b")
    assert waiting.output["messages"][-1].text == "ok"


@MODES
@OURS_FIRST
def test_a_rejected_call_does_not_run(
    run: Runner, toolset_of: MakeToolset, functions: Tools, mode: Mode, ours_first: bool
) -> None:
    toolset = toolset_of([functions.email])
    _, waiting = review(run, toolset, email_script(), mode=mode, ours_first=ours_first)
    _, status, text = waiting.decide({"type": "reject", "message": "not today"})[-1]
    assert status == "error"
    assert "not today" in text
    assert functions.ran == []
    assert waiting.output["messages"][-1].text == "ok"


@MODES
@OURS_FIRST
def test_a_reviewer_may_answer_in_the_tools_place(
    run: Runner, toolset_of: MakeToolset, functions: Tools, mode: Mode, ours_first: bool
) -> None:
    toolset = toolset_of([functions.email])
    _, waiting = review(run, toolset, email_script(), mode=mode, ours_first=ours_first)
    answer = {"type": "respond", "message": "I sent it myself"}
    assert waiting.decide(answer)[-1] == ("send_email", "success", "I sent it myself")
    assert functions.ran == []


def test_a_search_may_be_edited(run: Runner, toolset_of: MakeToolset, functions: Tools) -> None:
    script = [says(call("tool_search", names=["send_email"])), says(text="ok")]
    toolset = toolset_of([functions.email, functions.weather])
    model, waiting = review(run, toolset, script, of=("tool_search",))
    waiting.decide(edit("tool_search", names=["get_weather"]))
    assert model.turns[-1].tools == ["tool_search", "get_weather"]


def test_arguments_that_a_reviewer_put_right_are_not_refused(
    run: Runner, toolset_of: MakeToolset
) -> None:
    def forecast(**arguments: Any) -> str:
        return f"{arguments['days']} days"

    schema = {"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]}
    tool = StructuredTool.from_function(
        forecast, name="forecast", description="Forecast.", args_schema=schema
    )
    script = [
        says(call("tool_search", names=["forecast"])),
        says(call("forecast", days="many")),
        says(text="ok"),
    ]
    _, waiting = review(run, toolset_of([tool]), script, of=("forecast",))
    assert waiting.decide(edit("forecast", days=3))[-1][2].endswith("3 days")


def test_decisions_about_several_calls_are_kept_apart(
    run: Runner, toolset_of: MakeToolset, tools: Tools
) -> None:
    script = [
        says(call("tool_search", names=["send_email", "get_weather"])),
        says(*(call("send_email", to=who) for who in "abcd"), call("get_weather", city="Oslo")),
        says(text="ok"),
    ]
    _, waiting = review(run, toolset_of([tools.email, tools.weather]), script)
    assert waiting.asked == ["send_email"] * 4
    waiting.decide(
        APPROVE, edit("get_weather", city="Bergen"), edit("nothing_of"), {"type": "reject"}
    )
    calls = waiting.output["messages"][-7].tool_calls
    by_id = {message.tool_call_id: message for message in answers(waiting.output)}
    texts = [(by_id[one["id"]].status, by_id[one["id"]].text.split("\n")[-1]) for one in calls]
    assert texts[0] == ("success", "sent to a")
    assert texts[1] == ("success", "sunny in Bergen")
    assert texts[2][0] == texts[3][0] == "error"
    assert texts[4] == ("success", "sunny in Oslo")
    assert tools.ran.count("send_email") == 1


def refused_script() -> list[Any]:
    return [
        says(call("send_email", to="a")),
        says(call("tool_search", names=["send_email"]), call("send_email", to="b")),
        says(call("send_email", to="c")),
        says(text="ok"),
    ]


def test_per_call_nobody_is_asked_about_a_call_that_is_refused(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    _, waiting = review(run, toolset_of([functions.email]), refused_script(), mode="per_call")
    assert waiting.asked == ["send_email"]
    assert [m.status for m in answers(waiting.output)] == ["error", "success", "error"]
    assert waiting.decide(APPROVE)[-1][2] == "sent to c"


@MODES
@OURS_FIRST
def test_with_is_enabled_nobody_is_asked_in_vain_in_any_mode_or_order(
    run: Runner, toolset_of: MakeToolset, functions: Tools, mode: Mode, ours_first: bool
) -> None:
    ours = DeferredToolsMiddleware(toolset_of([functions.email]))
    config = InterruptOnConfig(allowed_decisions=["approve"], when=ours.is_enabled)
    hitl = HumanInTheLoopMiddleware({"send_email": config}, interrupt_mode=mode)
    agent = create_agent(
        ScriptedModel(script=refused_script()),
        middleware=[ours, hitl] if ours_first else [hitl, ours],
        checkpointer=InMemorySaver(),
    )
    waiting = Review(run, agent, mode)
    assert waiting.asked == ["send_email"]
    assert [m.status for m in answers(waiting.output)] == ["error", "success", "error"]
    assert waiting.decide(APPROVE)[-1][2] == "sent to c"


def test_a_search_waits_for_a_decision_too(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    script = [says(call("tool_search", names=["send_email"])), says(text="ok")]
    toolset = toolset_of([functions.email])
    model, waiting = review(run, toolset, script, mode="per_call", of=("tool_search",))
    assert waiting.asked == ["tool_search"]
    waiting.decide({"type": "reject"})
    assert model.turns[-1].tools == ["tool_search"]
