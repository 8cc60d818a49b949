"""A reviewer may redirect a call to another tool, but to none that may not be called."""

import pytest

from tests.support.agents import MakeToolset, Runner, Tools
from tests.support.review import edit, email_script, review
from tests.support.scripted_model import call, says


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
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    own = [functions.static("always")]
    _, waiting = review(run, toolset_of([functions.email]), email_script(), own=own)
    name, status, text = waiting.decide(edit("always", text="hello"))[-1]
    assert (name, status) == ("always", "success")
    assert text.endswith("always hello")
    assert functions.ran == ["always"]


@pytest.mark.parametrize("target", ["get_weather", "nothing_of"])
def test_a_call_redirected_to_a_tool_that_may_not_be_called_is_refused(
    run: Runner, toolset_of: MakeToolset, functions: Tools, target: str
) -> None:
    _, waiting = review(run, toolset_of([functions.email, functions.weather]), email_script())
    name, status, text = waiting.decide(edit(target, city="Oslo"))[-1]
    assert (name, status) == ("send_email", "error")
    assert repr(target) in text
    assert "A reviewer" in text
    assert functions.ran == []
    assert waiting.output["messages"][-1].text == "ok"


def test_a_call_redirected_to_the_search_searches(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    model, waiting = review(run, toolset_of([functions.email, functions.weather]), email_script())
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
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    script = [says(call("always")), says(text="ok")]
    own = [functions.static("always")]
    _, waiting = review(run, toolset_of([functions.email]), script, own=own, of=("always",))
    assert waiting.decide(edit("send_email", to="b"))[-1][1] == "error"
    assert functions.ran == []


def test_a_call_that_would_be_refused_may_be_redirected_to_one_that_is_not(
    run: Runner, toolset_of: MakeToolset, functions: Tools
) -> None:
    script = [says(call("send_email", to="a")), says(text="ok")]
    _, waiting = review(
        run, toolset_of([functions.email]), script, own=[functions.static("always")]
    )
    assert waiting.decide(edit("always", text="hello"))[-1][:2] == ("always", "success")
    assert functions.ran == ["always"]


@pytest.mark.parametrize("target", ["get_weather", "nothing_of"])
def test_reviewers_before_ours_cannot_redirect_past_the_gate_either(
    run: Runner, toolset_of: MakeToolset, functions: Tools, target: str
) -> None:
    script = email_script(names=("send_email", "get_weather"))
    toolset = toolset_of([functions.email, functions.weather])
    _, waiting = review(run, toolset, script, ours_first=False)
    # LangChain's own refusal, which ends the run: in this order it only knows the agent's tools.
    with pytest.raises(ValueError, match="which is not an available tool"):
        waiting.decide(edit(target, city="Oslo"))
    assert functions.ran == []
