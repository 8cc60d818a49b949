"""What a conversation has called decides whether the tool that completes the trifecta may run."""

from typing import Annotated, Any

import pytest
from langchain_core.messages import HumanMessage, RemoveMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph.message import REMOVE_ALL_MESSAGES
from langgraph.types import Command

from langchain_deferred_tools.state import STATE_KEY, change_to, load_session
from tests.support.agents import MakeToolset, Runner, Tools, agent_of, answers, thread, told
from tests.support.graphs import Built
from tests.support.guarded import Guarded, settings
from tests.support.review import edit, review
from tests.support.scripted_model import call, says

DONE = says(text="ok")


@pytest.fixture(params=["function", "langchain"])
def guarded(request: pytest.FixtureRequest) -> Guarded:
    """The tools, of both kinds."""
    return Guarded(Tools(request.param))


def search(*names: str) -> Any:
    return says(call("tool_search", names=list(names)))


def parallel_searches(*names: str) -> Any:
    """Searches side by side: each enables its tool, since none sees the others."""
    return says(*(call("tool_search", names=[name]) for name in names))


def test_the_tool_that_would_complete_it_is_not_enabled(
    run: Runner, toolset_of: MakeToolset, guarded: Guarded
) -> None:
    script = [
        search("fetch_page", "read_vault"),
        search("post_note", "add_up"),
        says(call("post_note"), call("add_up")),
        DONE,
    ]
    model, agent = agent_of(script, toolset_of(guarded.all, settings=settings()))
    output = answers(run(agent))
    assert [m["reason"] for m in output[1].artifact["misses"]] == ["blocked_by_policy"]
    assert model.turns[-1].tools[1:] == ["fetch_page", "read_vault", "add_up"]
    assert [m.status for m in output[2:]] == ["error", "success"]
    assert guarded.ran == ["add_up"]


def test_over_several_turns_the_completing_call_is_refused_and_the_others_run(
    run: Runner, toolset_of: MakeToolset, guarded: Guarded
) -> None:
    script = [
        parallel_searches("fetch_page", "read_vault", "post_note"),
        says(call("fetch_page")),
        DONE,
        says(call("read_vault"), call("post_note"), call("fetch_page")),
        DONE,
        says(call("post_note")),
        DONE,
    ]
    saver = InMemorySaver()
    _, agent = agent_of(script, toolset_of(guarded.all, settings=settings()), checkpointer=saver)
    run(agent, "one", thread())
    second = told(run(agent, "two", thread()))[-3:]
    assert [(name, status) for name, status, _ in second] == [
        ("read_vault", "success"),
        ("post_note", "error"),
        ("fetch_page", "success"),
    ]
    assert "carry private data out" in second[1][2]
    assert told(run(agent, "three", thread()))[-1][1] == "error"
    assert "post_note" not in guarded.ran
    exposed = agent.get_state(thread()).values[STATE_KEY]["exposed"]
    assert exposed == ["sensitive", "untrusted_input"]


def test_what_was_called_first_decides_what_completes_it(
    run: Runner, toolset_of: MakeToolset, guarded: Guarded
) -> None:
    script = [
        parallel_searches("fetch_page", "read_vault", "post_note"),
        says(call("fetch_page"), call("post_note"), call("read_vault")),
        DONE,
    ]
    _, agent = agent_of(script, toolset_of(guarded.all, settings=settings()))
    assert [m.status for m in answers(run(agent))[3:]] == ["success", "success", "error"]
    assert sorted(guarded.ran) == ["fetch_page", "post_note"]


def test_it_survives_a_summarised_history_and_a_restart(
    run: Runner, toolset_of: MakeToolset, guarded: Guarded
) -> None:
    saver = InMemorySaver()
    script = [
        parallel_searches("fetch_page", "read_vault", "post_note"),
        says(call("fetch_page"), call("read_vault")),
        DONE,
    ]
    _, before = agent_of(script, toolset_of(guarded.all, settings=settings()), checkpointer=saver)
    run(before, "one", thread())
    history = [RemoveMessage(REMOVE_ALL_MESSAGES), HumanMessage("We have read things.")]
    before.update_state(thread(), {"messages": history})

    again = toolset_of(guarded.all, settings=settings())
    _, after = agent_of([says(call("post_note")), DONE], again, checkpointer=saver)
    assert told(run(after, "two", thread()))[-1][1] == "error"
    assert "post_note" not in guarded.ran


def test_branches_that_are_merged_are_exposed_to_both(
    run: Runner, toolset_of: MakeToolset, guarded: Guarded
) -> None:
    toolset = toolset_of(guarded.all, settings=settings())
    script = [
        parallel_searches("fetch_page", "read_vault", "post_note"),
        says(call("fetch_page")),
        DONE,
        says(call("post_note")),
        DONE,
    ]
    _, agent = agent_of(script, toolset, checkpointer=InMemorySaver())
    run(agent, "one", thread())
    # Another branch of the same conversation, in which the vault was read.
    ledger = load_session(agent.get_state(thread()).values[STATE_KEY])
    vault = toolset.registry.tools["read_vault"].spec
    agent.update_state(thread(), {STATE_KEY: change_to(ledger.called([vault]))})
    assert told(run(agent, "two", thread()))[-1][1] == "error"
    assert guarded.ran == ["fetch_page"]


@pytest.mark.parametrize("side_by_side", [True, False])
def test_a_graph_built_by_hand_notes_its_calls_too(
    run: Runner, toolset_of: MakeToolset, guarded: Guarded, side_by_side: bool
) -> None:
    calls = [call("fetch_page"), call("read_vault"), call("post_note")]
    steps = [says(*calls)] if side_by_side else [says(one) for one in calls]
    searches = parallel_searches("fetch_page", "read_vault", "post_note")
    built = Built(toolset_of(guarded.all, settings=settings()), searches, *steps, DONE)
    assert [m.status for m in answers(run(built.graph))[3:]] == ["success", "success", "error"]
    assert sorted(guarded.ran) == ["fetch_page", "read_vault"]


@pytest.mark.parametrize("several", [False, True])
def test_a_tool_that_answers_with_commands_is_noted_as_well(
    run: Runner, toolset_of: MakeToolset, several: bool
) -> None:
    @tool
    def read_vault(call_id: Annotated[str, InjectedToolCallId]) -> Any:
        """Read the vault."""
        answer: Any = Command(update={"messages": [ToolMessage("gold", tool_call_id=call_id)]})
        return [answer, Command(update={})] if several else answer

    script = (search("read_vault"), says(call("read_vault")), DONE)
    toolset = toolset_of([read_vault], settings=settings())
    built = Built(toolset, *script, checkpointer=InMemorySaver())
    assert told(run(built.graph, "go", thread()))[-1] == ("read_vault", "success", "gold")
    assert built.graph.get_state(thread()).values[STATE_KEY]["exposed"] == ["sensitive"]


def test_a_reviewer_who_redirects_calls_cannot_complete_it_unawares(
    run: Runner, toolset_of: MakeToolset, guarded: Guarded
) -> None:
    script = [
        parallel_searches("fetch_page", "read_vault", "post_note", "add_up"),
        says(call("add_up"), call("fetch_page")),
        says(call("add_up"), call("post_note")),
        DONE,
    ]
    toolset = toolset_of(guarded.all, settings=settings())
    _, waiting = review(run, toolset, script, of=("add_up",))
    # One alone, which is noted although the model has not asked for it, then one beside another.
    waiting.decide(edit("post_note"))
    last = waiting.decide(edit("read_vault"))[-2:]
    assert [(name, status) for name, status, _ in last] == [
        ("add_up", "error"),
        ("post_note", "success"),
    ]
    assert "read_vault" not in guarded.ran


def test_what_a_reviewer_redirects_to_is_noted(
    run: Runner, toolset_of: MakeToolset, guarded: Guarded
) -> None:
    script = [
        parallel_searches("fetch_page", "read_vault", "post_note", "add_up"),
        says(call("add_up"), call("fetch_page")),
        says(call("post_note")),
        DONE,
    ]
    toolset = toolset_of(guarded.all, settings=settings())
    _, waiting = review(run, toolset, script, of=("add_up",))
    assert waiting.decide(edit("read_vault"))[-1][:2] == ("post_note", "error")


def test_off_lets_all_three_run(run: Runner, toolset_of: MakeToolset, guarded: Guarded) -> None:
    names = ["fetch_page", "read_vault", "post_note"]
    script = [search(*names), says(*map(call, names)), DONE]
    _, agent = agent_of(script, toolset_of(guarded.all, settings=settings("off")))
    run(agent)
    assert sorted(guarded.ran) == sorted(names)
