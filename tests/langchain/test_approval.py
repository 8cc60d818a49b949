"""With `trifecta="ask"` the host is asked by an interrupt, once, and its answer is kept."""

import asyncio
from typing import Any

import pytest
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from deferred_tools import Toolset
from langchain_deferred_tools.interrupting import KIND
from langchain_deferred_tools.state import STATE_KEY
from tests.support.agents import MakeToolset, Runner, Tools, agent_of, answers, thread, told
from tests.support.graphs import Built
from tests.support.guarded import Guarded, settings
from tests.support.observer import Observer
from tests.support.scripted_model import call, says

DONE = says(text="ok")
TWO = ["fetch_page", "read_vault"]


@pytest.fixture
def guarded(request: pytest.FixtureRequest) -> Guarded:
    """The tools, as functions unless a test says otherwise."""
    return Guarded(Tools(getattr(request, "param", "function")))


@pytest.fixture
def toolset(toolset_of: MakeToolset, guarded: Guarded) -> Toolset:
    return toolset_of(guarded.all, settings=settings("ask"))


def search(*names: str) -> Any:
    return says(call("tool_search", names=list(names)))


def asked(output: Any) -> list[list[str]]:
    """The tools that each interrupt asks about."""
    values = [interrupt.value for interrupt in output.get("__interrupt__", ())]
    assert all(value["kind"] == KIND for value in values)
    return [[tool["name"] for tool in value["tools"]] for value in values]


def at_search(toolset: Toolset, *after: Any, **options: Any) -> tuple[Any, Any]:
    """An agent whose search completes the trifecta, by two tools, and then calls them."""
    calls = says(call("post_note"), call("send_mail"))
    script = [search(*TWO), search("post_note", "send_mail"), calls, *after, DONE]
    return agent_of(script, toolset, checkpointer=InMemorySaver(), **options)


def at_call(*after: Any) -> list[Any]:
    """Three searches side by side see nothing of each other: the trifecta shows at the call."""
    searches = [call("tool_search", names=[name]) for name in (*TWO, "post_note")]
    return [says(*searches), says(*map(call, (*TWO, "post_note"))), *after, DONE]


@pytest.mark.parametrize(
    ("answer", "through"),
    [
        (True, ["post_note", "send_mail"]),
        (["send_mail"], ["send_mail"]),
        (["send_mail", "add_up", 7], ["send_mail"]),
        (False, []),
        ("yes", []),
        (1, []),
        ({"post_note": True}, []),
    ],
)
def test_a_search_waits_for_the_host_and_enables_what_it_lets_through(
    run: Runner, toolset: Toolset, guarded: Guarded, answer: Any, through: list[str]
) -> None:
    model, agent = at_search(toolset)
    waiting = run(agent, "go", thread())
    assert asked(waiting) == [["post_note", "send_mail"]]
    [tool, _] = waiting["__interrupt__"][0].value["tools"]
    assert tool["tags"] == ["egress"]
    assert "already has tools tagged sensitive, untrusted_input" in tool["reason"]
    output = run(agent, Command(resume=answer), thread())
    assert asked(output) == []
    assert sorted(guarded.ran) == through
    assert model.turns[-1].tools == ["tool_search", *TWO, *through]
    refused = answers(output)[1].artifact["misses"]
    assert {m["reason"] for m in refused} <= {"approval_needed"}
    assert len(refused) == 2 - len(through)
    assert output["messages"][-1].text == "ok"


@pytest.mark.parametrize("guarded", ["function", "langchain"], indirect=True)
@pytest.mark.parametrize(("answer", "status"), [(True, "success"), (False, "error")])
def test_a_call_waits_for_the_host_where_the_trifecta_shows_there_first(
    run: Runner, toolset: Toolset, guarded: Guarded, answer: bool, status: str
) -> None:
    _, agent = agent_of(at_call(), toolset, checkpointer=InMemorySaver())
    assert asked(run(agent, "go", thread())) == [["post_note"]]
    assert sorted(guarded.ran) == TWO
    output = run(agent, Command(resume=answer), thread())
    assert told(output)[-1][:2] == ("post_note", status)
    assert sorted(guarded.ran) == sorted([*TWO, *(["post_note"] if answer else [])])


@pytest.mark.parametrize("script", ["at search", "at call"])
def test_nobody_is_asked_twice(
    run: Runner, toolset: Toolset, guarded: Guarded, script: str
) -> None:
    again = (DONE, says(call("post_note")), DONE, search("post_note"), DONE)
    if script == "at call":
        _, agent = agent_of(at_call(*again), toolset, checkpointer=InMemorySaver())
    else:
        _, agent = at_search(toolset, *again)
    run(agent, "one", thread())
    assert asked(run(agent, Command(resume=True), thread())) == []
    for turn in ("two", "three"):
        assert asked(run(agent, turn, thread())) == []
    assert guarded.ran.count("post_note") == 2


def test_a_refusal_is_asked_about_again_only_if_the_model_asks_again(
    run: Runner, toolset: Toolset, guarded: Guarded
) -> None:
    script = at_call(DONE, says(call("post_note")), DONE)
    _, agent = agent_of(script, toolset, checkpointer=InMemorySaver())
    run(agent, "one", thread())
    run(agent, Command(resume=False), thread())
    assert asked(run(agent, "two", thread())) == [["post_note"]]
    run(agent, Command(resume=["post_note"]), thread())
    assert guarded.ran.count("post_note") == 1


def test_two_that_ask_in_one_step_are_answered_each_by_itself(
    run: Runner, toolset: Toolset, guarded: Guarded
) -> None:
    two = says(call("tool_search", names=["post_note"]), call("tool_search", names=["send_mail"]))
    script = [search(*TWO), two, says(call("post_note"), call("send_mail")), DONE]
    _, agent = agent_of(script, toolset, checkpointer=InMemorySaver())
    waiting = run(agent, "go", thread())
    assert sorted(asked(waiting)) == [["post_note"], ["send_mail"]]
    decisions = {
        one.id: one.value["tools"][0]["name"] == "send_mail" for one in waiting["__interrupt__"]
    }
    assert asked(run(agent, Command(resume=decisions), thread())) == []
    assert guarded.ran == ["send_mail"]


@pytest.mark.parametrize("ours_first", [True, False], ids=["ours,hitl", "hitl,ours"])
@pytest.mark.parametrize("mode", ["batched", "per_call"])
def test_a_reviewer_and_the_host_are_asked_each_for_its_own(
    run: Runner, toolset: Toolset, guarded: Guarded, ours_first: bool, mode: Any
) -> None:
    reviewer = HumanInTheLoopMiddleware({"post_note": True}, interrupt_mode=mode)
    where = {"after" if ours_first else "before": [reviewer]}
    _, agent = agent_of(at_call(), toolset, checkpointer=InMemorySaver(), **where)
    approve: Any = {"type": "approve"}
    review = approve if mode == "per_call" else {"decisions": [approve]}
    output = run(agent, "go", thread())
    heard = []
    while waiting := output.get("__interrupt__"):
        ours = waiting[0].value.get("kind") == KIND
        heard.append("host" if ours else "reviewer")
        output = run(agent, Command(resume=True if ours else review), thread())
    assert sorted(heard) == ["host", "reviewer"]
    assert told(output)[-1][:2] == ("post_note", "success")
    assert guarded.ran.count("post_note") == 1


def test_observers_hear_once_of_what_waited(
    run: Runner, toolset_of: MakeToolset, guarded: Guarded
) -> None:
    observer = Observer()
    toolset = toolset_of(guarded.all, settings=settings("ask"), plugins=[observer])
    _, agent = at_search(toolset)
    run(agent, "go", thread())
    run(agent, Command(resume=["post_note"]), thread())
    kinds = [kind for kind, *_ in observer.heard]
    assert kinds[:4] == ["searched", "enabled"] * 2
    assert sorted(kinds[4:]) == ["called", "refused"]
    assert observer.heard[3][-1] == ("post_note",)


def test_a_stream_ends_with_the_question_and_goes_on_with_the_answer(
    toolset: Toolset, guarded: Guarded
) -> None:
    _, agent = at_search(toolset)

    async def both() -> None:
        asking = [c async for c in agent.astream({"messages": [("user", "go")]}, thread())]
        assert asked(asking[-1]) == [["post_note", "send_mail"]]
        rest = [c async for c in agent.astream(Command(resume=True), thread())]
        assert [c["model"]["messages"][0].text for c in rest if "model" in c][-1] == "ok"

    asyncio.run(both())
    assert sorted(guarded.ran) == ["post_note", "send_mail"]


def test_what_is_kept_is_plain_json(run: Runner, toolset: Toolset) -> None:
    _, agent = at_search(toolset)
    run(agent, "go", thread())
    run(agent, Command(resume=["post_note"]), thread())
    approved = agent.get_state(thread()).values[STATE_KEY]["approved"]
    assert [one["name"] for one in approved] == ["post_note"]


def test_a_graph_that_sends_each_call_by_itself_asks_as_an_agent_does(
    run: Runner, toolset: Toolset, guarded: Guarded
) -> None:
    built = Built(toolset, *at_call(), route="each call", checkpointer=InMemorySaver())
    assert asked(run(built.graph, "go", thread())) == [["post_note"]]
    output = run(built.graph, Command(resume=["post_note"]), thread())
    assert told(output)[-1][:2] == ("post_note", "success")
    assert sorted(guarded.ran) == ["fetch_page", "post_note", "read_vault"], "each ran once"


def test_calls_that_share_a_node_are_approved_by_name_alone(
    run: Runner, toolset: Toolset, guarded: Guarded
) -> None:
    # Which of them the answer is for, LangGraph cannot tell: yes to one is no yes to another.
    two = says(call("tool_search", names=["post_note"]), call("tool_search", names=["send_mail"]))
    script = [search(*TWO), two, says(call("post_note"), call("send_mail")), DONE]
    built = Built(toolset, *script, checkpointer=InMemorySaver())
    output = run(built.graph, "go", thread())
    while output.get("__interrupt__"):
        output = run(built.graph, Command(resume=True), thread())
    assert guarded.ran == []
