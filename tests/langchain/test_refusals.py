"""What may not run does not, and the model is told what to do instead."""

from typing import Any

import pytest
from langchain_core.tools import StructuredTool

from deferred_tools import Caller, Limits, ToolSpec
from tests.support.agents import MakeToolset, Runner, Tools, agent_of, answers, told
from tests.support.scripted_model import call, says


class NoEmail:
    """Forbids `send_email`."""

    def allows(self, caller: Caller, spec: ToolSpec) -> bool:
        return spec.tool != "send_email"


def test_a_tool_that_is_not_enabled_is_refused_with_the_way_to_enable_it(
    run: Runner, toolset_of: MakeToolset, tools: Tools
) -> None:
    script = [says(call("get_weather", city="Oslo")), says(text="ok")]
    _, agent = agent_of(script, toolset_of([tools.weather]))
    [(name, status, text)] = told(run(agent))
    assert (name, status) == ("get_weather", "error")
    assert 'Call `tool_search` with names=["get_weather"]' in text
    assert tools.ran == []


def test_a_forbidden_tool_cannot_be_told_from_one_that_does_not_exist(
    run: Runner, toolset_of: MakeToolset, tools: Tools
) -> None:
    script = [
        says(call("tool_search", names=["send_email"]), call("tool_search", names=["nothing_of"])),
        says(call("tool_search", query="send_email"), call("tool_search", query="nothing_of")),
        says(call("send_email", to="me"), call("nothing_of", to="me")),
        says(text="ok"),
    ]
    toolset = toolset_of([tools.weather, tools.email], policies=[NoEmail()])
    model, agent = agent_of(script, toolset)
    texts = [text for _, _, text in told(run(agent))]
    for forbidden, unknown in zip(texts[::2], texts[1::2], strict=True):
        assert forbidden.replace("send_email", "X") == unknown.replace("nothing_of", "X")
    assert "tool_search" in texts[-1]
    assert all("send_email" not in turn.system for turn in model.turns)
    assert all(turn.tools == ["tool_search"] for turn in model.turns)
    assert tools.ran == []


def test_a_refused_call_does_not_hold_up_those_beside_it(
    run: Runner, toolset_of: MakeToolset, tools: Tools
) -> None:
    script = [
        says(call("tool_search", names=["get_weather"])),
        says(call("get_weather", city="Oslo"), call("send_email", to="me"), call("always")),
        says(text="ok"),
    ]
    toolset = toolset_of([tools.weather, tools.email])
    _, agent = agent_of(script, toolset, tools=[tools.static("always")])
    assert [m.status for m in answers(run(agent))] == ["success", "success", "error", "success"]
    assert sorted(tools.ran) == ["always", "get_weather"]


def test_a_tool_called_by_its_qualified_id_passes_the_same_gate(
    run: Runner, toolset_of: MakeToolset, tools: Tools
) -> None:
    qualified = "functions__get_weather"
    script = [
        says(call(qualified, city="Oslo")),
        says(call("tool_search", names=[qualified])),
        says(call(qualified, city="Oslo")),
        says(text="ok"),
    ]
    model, agent = agent_of(script, toolset_of([tools.weather]))
    early, _, late = answers(run(agent))
    assert (early.status, late.status) == ("error", "success")
    assert late.text == "sunny in Oslo"
    assert model.turns[2].tools == ["tool_search", "get_weather"]


@pytest.mark.parametrize("arguments", [{"city": 7}, {}, {"city": {"deep": []}}])
def test_arguments_that_do_not_fit_come_back_with_the_complaint_and_nothing_runs(
    run: Runner, toolset_of: MakeToolset, tools: Tools, arguments: dict[str, Any]
) -> None:
    script = [
        says(call("tool_search", names=["get_weather"])),
        says(call("get_weather", **arguments)),
        says(text="ok"),
    ]
    _, agent = agent_of(script, toolset_of([tools.weather]))
    name, status, text = told(run(agent))[-1]
    assert (name, status) == ("get_weather", "error")
    assert "city" in text
    assert tools.ran == []


def test_a_langchain_tool_with_a_json_schema_is_held_to_it(
    run: Runner, toolset_of: MakeToolset
) -> None:
    ran: list[Any] = []

    def forecast(**arguments: Any) -> str:
        ran.append(arguments)
        return "sunny"

    schema = {
        "type": "object",
        "properties": {"days": {"type": "integer", "minimum": 1}},
        "required": ["days"],
    }
    tool = StructuredTool.from_function(
        forecast, name="forecast", description="Forecast.", args_schema=schema
    )
    script = [
        says(call("tool_search", names=["forecast"])),
        says(call("forecast", days=0), call("forecast", days="many"), call("forecast")),
        says(call("forecast", days=2)),
        says(text="ok"),
    ]
    _, agent = agent_of(script, toolset_of([tool]))
    messages = answers(run(agent))
    assert [m.status for m in messages[1:]] == ["error", "error", "error", "success"]
    assert "days: expected at least 1" in messages[1].text
    assert ran == [{"days": 2}]


def test_a_huge_argument_is_refused_before_anything_looks_at_it(
    run: Runner, toolset_of: MakeToolset
) -> None:
    def store(items: list[int]) -> str:
        """Store items."""
        return "stored"

    script = [
        says(call("tool_search", names=["store"])),
        says(call("store", items=[1] * 1000)),
        says(text="ok"),
    ]
    _, agent = agent_of(script, toolset_of([store], limits=Limits(arguments_bytes=100)))
    assert told(run(agent))[-1][1] == "error"
