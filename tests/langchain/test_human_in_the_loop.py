"""Reviewers decide about calls of deferred tools; no decision ends the run or opens the gate."""

from typing import Any, Literal

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, InterruptOnConfig
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from deferred_tools import Toolset
from langchain_deferred_tools.middleware import DeferredToolsMiddleware
from tests.support.agents import MakeToolset, Runner, Tools, agent_of, answers, thread, told
from tests.support.scripted_model import ScriptedModel, call, says

Mode = Literal["batched", "per_call"]
MODES = pytest.mark.parametrize("mode", ["batched", "per_call"])
OURS_FIRST = pytest.mark.parametrize("ours_first", [True, False], ids=["ours,hitl", "hitl,ours"])
APPROVE: dict[str, Any] = {"type": "approve"}


def edit(name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "edit", "edited_action": {"name": name, "args": arguments}}


class Review:
    """A run that waits for decisions."""

    def __init__(self, run: Runner, agent: Any, mode: Mode) -> None:
        self.run, self.agent, self.mode = run, agent, mode
        self.output = run(agent, "go", thread())

    @property
    def asked(self) -> list[str]:
        """The calls that a decision is wanted about, by name."""
        values = [interrupt.value for interrupt in self.output.get("__interrupt__", ())]
        if self.mode == "per_call":
            return [value["name"] for value in values]
        return [action["name"] for value in values for action in value["action_requests"]]

    def decide(self, *decisions: dict[str, Any]) -> list[tuple[str | None, str, str]]:
        """Resume with one decision per call asked about; what the tools then answered."""
        interrupts = self.output["__interrupt__"]
        resume: dict[str, Any] = {"decisions": list(decisions)}
        if self.mode == "per_call":
            resume = {i.id: decision for i, decision in zip(interrupts, decisions, strict=True)}
        self.output = self.run(self.agent, Command(resume=resume), thread())
        return told(self.output)


def review(
    run: Runner,
    toolset: Toolset,
    script: list[Any],
    *,
    mode: Mode = "batched",
    ours_first: bool = True,
    of: tuple[str, ...] = ("send_email",),
    own: Any = (),
) -> tuple[ScriptedModel, Review]:
    """A run of an agent whose calls of the tools in `of` wait for a decision."""
    hitl = HumanInTheLoopMiddleware(dict.fromkeys(of, True), interrupt_mode=mode)
    model, agent = agent_of(
        script,
        toolset,
        checkpointer=InMemorySaver(),
        tools=own,
        **{"after" if ours_first else "before": [hitl]},
    )
    return model, Review(run, agent, mode)


def email_script(*, names: tuple[str, ...] = ("send_email",)) -> list[Any]:
    return [
        says(call("tool_search", names=list(names))),
        says(call("send_email", to="a")),
        says(text="ok"),
    ]


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
    run: Runner, toolset_of: MakeToolset, tools: Tools, mode: Mode, ours_first: bool
) -> None:
    toolset = toolset_of([tools.email])
    _, waiting = review(run, toolset, email_script(), mode=mode, ours_first=ours_first)
    _, status, text = waiting.decide({"type": "reject", "message": "not today"})[-1]
    assert status == "error"
    assert "not today" in text
    assert tools.ran == []
    assert waiting.output["messages"][-1].text == "ok"


@MODES
@OURS_FIRST
def test_a_reviewer_may_answer_in_the_tools_place(
    run: Runner, toolset_of: MakeToolset, tools: Tools, mode: Mode, ours_first: bool
) -> None:
    toolset = toolset_of([tools.email])
    _, waiting = review(run, toolset, email_script(), mode=mode, ours_first=ours_first)
    answer = {"type": "respond", "message": "I sent it myself"}
    assert waiting.decide(answer)[-1] == ("send_email", "success", "I sent it myself")
    assert tools.ran == []


def test_a_call_may_be_redirected_to_another_enabled_tool(
    run: Runner, toolset_of: MakeToolset, tools: Tools
) -> None:
    script = email_script(names=("send_email", "get_weather"))
    _, waiting = review(run, toolset_of([tools.email, tools.weather]), script)
    name, status, text = waiting.decide(edit("get_weather", city="Oslo"))[-1]
    assert (name, status) == ("get_weather", "success")
    assert text.endswith("sunny in Oslo")
    assert tools.ran == ["get_weather"]


def test_a_call_may_be_redirected_to_a_tool_of_the_agents_own(
    run: Runner, toolset_of: MakeToolset, tools: Tools
) -> None:
    own = [tools.static("always")]
    _, waiting = review(run, toolset_of([tools.email]), email_script(), own=own)
    name, status, text = waiting.decide(edit("always", text="hello"))[-1]
    assert (name, status) == ("always", "success")
    assert text.endswith("always hello")
    assert tools.ran == ["always"]


@pytest.mark.parametrize("target", ["get_weather", "nothing_of"])
def test_a_call_redirected_to_a_tool_that_may_not_be_called_is_refused(
    run: Runner, toolset_of: MakeToolset, tools: Tools, target: str
) -> None:
    _, waiting = review(run, toolset_of([tools.email, tools.weather]), email_script())
    name, status, text = waiting.decide(edit(target, city="Oslo"))[-1]
    assert (name, status) == ("send_email", "error")
    assert repr(target) in text
    assert "A reviewer" in text
    assert tools.ran == []
    assert waiting.output["messages"][-1].text == "ok"


def test_a_call_redirected_to_the_search_searches(
    run: Runner, toolset_of: MakeToolset, tools: Tools
) -> None:
    model, waiting = review(run, toolset_of([tools.email, tools.weather]), email_script())
    name, status, _ = waiting.decide(edit("tool_search", names=["get_weather"]))[-1]
    assert (name, status) == ("tool_search", "success")
    assert model.turns[-1].tools == ["tool_search", "send_email", "get_weather"]


def test_a_call_of_the_agents_own_tool_may_be_redirected_to_an_enabled_one(
    run: Runner, toolset_of: MakeToolset, tools: Tools
) -> None:
    script = [
        says(call("tool_search", names=["send_email"])),
        says(call("always")),
        says(text="ok"),
    ]
    own = [tools.static("always")]
    _, waiting = review(run, toolset_of([tools.email]), script, own=own, of=("always",))
    name, status, text = waiting.decide(edit("send_email", to="b"))[-1]
    assert (name, status) == ("send_email", "success")
    assert text.endswith("sent to b")
    assert tools.ran == ["send_email"]


def test_a_call_of_the_agents_own_tool_cannot_be_redirected_past_the_gate(
    run: Runner, toolset_of: MakeToolset, tools: Tools
) -> None:
    script = [says(call("always")), says(text="ok")]
    own = [tools.static("always")]
    _, waiting = review(run, toolset_of([tools.email]), script, own=own, of=("always",))
    assert waiting.decide(edit("send_email", to="b"))[-1][1] == "error"
    assert tools.ran == []


def test_a_call_that_would_be_refused_may_be_redirected_to_one_that_is_not(
    run: Runner, toolset_of: MakeToolset, tools: Tools
) -> None:
    script = [says(call("send_email", to="a")), says(text="ok")]
    _, waiting = review(run, toolset_of([tools.email]), script, own=[tools.static("always")])
    assert waiting.decide(edit("always", text="hello"))[-1][:2] == ("always", "success")
    assert tools.ran == ["always"]


def test_a_search_may_be_edited(run: Runner, toolset_of: MakeToolset, tools: Tools) -> None:
    script = [says(call("tool_search", names=["send_email"])), says(text="ok")]
    toolset = toolset_of([tools.email, tools.weather])
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
    run: Runner, toolset_of: MakeToolset, tools: Tools
) -> None:
    _, waiting = review(run, toolset_of([tools.email]), refused_script(), mode="per_call")
    assert waiting.asked == ["send_email"]
    assert [m.status for m in answers(waiting.output)] == ["error", "success", "error"]
    assert waiting.decide(APPROVE)[-1][2] == "sent to c"


@MODES
@OURS_FIRST
def test_with_is_enabled_nobody_is_asked_in_vain_in_any_mode_or_order(
    run: Runner, toolset_of: MakeToolset, tools: Tools, mode: Mode, ours_first: bool
) -> None:
    ours = DeferredToolsMiddleware(toolset_of([tools.email]))
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
    run: Runner, toolset_of: MakeToolset, tools: Tools
) -> None:
    script = [says(call("tool_search", names=["send_email"])), says(text="ok")]
    toolset = toolset_of([tools.email])
    model, waiting = review(run, toolset, script, mode="per_call", of=("tool_search",))
    assert waiting.asked == ["tool_search"]
    waiting.decide({"type": "reject"})
    assert model.turns[-1].tools == ["tool_search"]


@pytest.mark.parametrize("target", ["get_weather", "nothing_of"])
def test_reviewers_before_ours_cannot_redirect_past_the_gate_either(
    run: Runner, toolset_of: MakeToolset, tools: Tools, target: str
) -> None:
    script = email_script(names=("send_email", "get_weather"))
    toolset = toolset_of([tools.email, tools.weather])
    _, waiting = review(run, toolset, script, ours_first=False)
    # LangChain's own refusal, which ends the run: in this order it only knows the agent's tools.
    with pytest.raises(ValueError, match="which is not an available tool"):
        waiting.decide(edit(target, city="Oslo"))
    assert tools.ran == []
