"""A call that cannot be run is refused by all that runs calls, whoever stands beside it."""

from typing import Any

import pytest
from langchain.agents.middleware import (
    HumanInTheLoopMiddleware,
    InterruptOnConfig,
    ModelFallbackMiddleware,
)
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START
from langgraph.prebuilt import tools_condition
from langgraph.types import Command
from pydantic import BaseModel

from langchain_deferred_tools import Conversation, exact_calls
from langchain_deferred_tools.graph import DeferredToolsGraph
from langchain_deferred_tools.middleware import DeferredToolsMiddleware
from langchain_deferred_tools.settled import invalid_calls
from tests.support.agents import MakeToolset, Runner, Tools, agent_of, thread, told
from tests.support.guarded import Guarded, settings
from tests.support.scripted_model import ScriptedModel, call, says
from tests.support.stream_agents import DONE, Noted, said, stream_agent
from tests.support.streaming_model import end, part, streaming

CUT = [part('{"table":"orders","dry_run":tr', name="delete_rows", id="i1"), end("length")]
AGAIN = [part('{"table":"b"}', name="delete_rows", id="i2"), end()]
RAN = [("delete_rows", {"table": "b", "dry_run": False})]


class Answer(BaseModel):
    """The final answer; both have defaults."""

    text: str = "none"
    sure: bool = True


def cut_off(*calls: Any) -> AIMessage:
    """A whole message that its provider says was cut off."""
    return says(*calls).model_copy(update={"response_metadata": {"finish_reason": "length"}})


def test_a_whole_message_that_was_cut_off_is_refused(run: Runner, toolset_of: MakeToolset) -> None:
    noted = Noted()
    script = [cut_off(call("delete_rows", table="a")), says(text="ok")]
    _, agent = agent_of(script, toolset_of(), tools=[noted.tool()])
    assert [status for _, status, _ in told(run(agent))] == ["error"]
    assert noted.calls == []


def test_messages_of_a_model_that_another_middleware_brings_in_are_checked(
    run: Runner, toolset_of: MakeToolset
) -> None:
    noted = Noted()
    other = ScriptedModel(script=[cut_off(call("delete_rows", table="a")), says(text="ok")])
    fallback = ModelFallbackMiddleware(other)
    _, agent = agent_of([], toolset_of(), after=[fallback], tools=[noted.tool()])
    assert [status for _, status, _ in told(run(agent))] == ["error"]
    assert noted.calls == []


def test_a_model_that_another_middleware_brings_in_can_be_exact_itself(
    run: Runner, toolset_of: MakeToolset
) -> None:
    noted = Noted()
    pieces = [part("", name="delete_rows", id="i1"), part('{"table"'), part(':"b"}'), end()]
    fallback = ModelFallbackMiddleware(exact_calls(streaming(pieces, DONE)))
    _, agent = agent_of([], toolset_of(), after=[fallback], tools=[noted.tool()])
    run(agent)
    assert noted.calls == RAN


def test_nobody_is_asked_to_review_it(run: Runner, toolset_of: MakeToolset) -> None:
    noted = Noted()
    toolset = toolset_of([noted.tool()])
    enabled = DeferredToolsMiddleware(toolset).is_enabled
    ask = InterruptOnConfig(allowed_decisions=["approve"], when=enabled)
    search = [part('{"names":["delete_rows"]}', name="tool_search", id="i0"), end()]
    _, agent = stream_agent(
        toolset,
        [],
        search,
        CUT,
        AGAIN,
        DONE,
        after=[HumanInTheLoopMiddleware({"delete_rows": ask})],
        checkpointer=InMemorySaver(),
    )
    output = run(agent, "go", thread())
    assert [status for _, status, _ in told(output)] == ["success", "error"]
    assert len(output["__interrupt__"]) == 1
    run(agent, Command(resume={"decisions": [{"type": "approve"}]}), thread())
    assert noted.calls == RAN


@pytest.mark.parametrize(
    "decision",
    [
        {"type": "approve"},
        {
            "type": "edit",
            "edited_action": {"name": "delete_rows", "args": {"table": "x"}},
        },
    ],
    ids=["approve", "edit"],
)
def test_a_reviewer_who_is_asked_cannot_let_it_through(
    run: Runner, toolset_of: MakeToolset, decision: Any
) -> None:
    noted = Noted()
    review = HumanInTheLoopMiddleware({"delete_rows": True})
    _, agent = stream_agent(
        toolset_of(), [noted.tool()], CUT, DONE, after=[review], checkpointer=InMemorySaver()
    )
    run(agent, "go", thread())
    output = run(agent, Command(resume={"decisions": [decision]}), thread())
    assert [status for _, status, _ in told(output)] == ["error"]
    assert noted.calls == []


def test_it_stays_refused_when_a_checkpoint_is_resumed(
    run: Runner, toolset_of: MakeToolset
) -> None:
    noted, memory = Noted(), InMemorySaver()
    options: dict[str, Any] = {"checkpointer": memory, "interrupt_before": ["tools"]}
    _, agent = stream_agent(toolset_of(), [noted.tool()], CUT, **options)
    run(agent, "go", thread())
    _, other = stream_agent(toolset_of(), [noted.tool()], DONE, **options)
    output = run(other, None, thread())
    assert list(invalid_calls(said(output))) == ["i1"]
    assert [status for _, status, _ in told(output)] == ["error"]
    assert noted.calls == []


def test_it_gives_no_structured_response_and_the_model_may_try_again(
    run: Runner, toolset_of: MakeToolset
) -> None:
    cut = [part('{"text":"almost', name="Answer", id="i1"), end("length")]
    again = [part('{"text":"all"}', name="Answer", id="i2"), end()]
    model, agent = stream_agent(toolset_of(), [], cut, again, response_format=ToolStrategy(Answer))
    output = run(agent)
    assert output["structured_response"] == Answer(text="all")
    answer = model.turns[1].messages[-1]
    assert isinstance(answer, ToolMessage)
    assert (answer.tool_call_id, answer.status) == ("i1", "error")
    assert "'Answer' was not run" in str(answer.content)


def test_what_it_would_have_read_does_not_count(run: Runner, toolset_of: MakeToolset) -> None:
    guarded = Guarded(Tools("function"))
    search = [
        part(f'{{"names":["{name}"]}}', name="tool_search", id=name, index=at)
        for at, name in enumerate(("fetch_page", "read_vault", "post_note"))
    ]
    cut = [
        part("{}", name="fetch_page", id="i1", index=0),
        part("{}", name="post_note", id="i2", index=1),
        part("{}", name="read_vault", id="i3", index=2),
        end("length"),
    ]
    toolset = toolset_of(guarded.all, settings=settings())
    _, agent = stream_agent(toolset, [], [*search, end()], cut, DONE)
    assert [status for _, status, _ in told(run(agent))[3:]] == ["success", "success", "error"]
    assert sorted(guarded.ran) == ["fetch_page", "post_note"]


@pytest.mark.parametrize("each_call", [True, False])
def test_a_graph_of_ones_own_refuses_it(
    run: Runner, toolset_of: MakeToolset, each_call: bool
) -> None:
    noted = Noted()
    model = exact_calls(streaming(CUT, AGAIN, DONE))
    deferred = DeferredToolsGraph(toolset_of(), tools=[noted.tool()])

    def think(state: Any) -> dict[str, Any]:
        bound = model.bind_tools(deferred.bound(state))
        return {"messages": [bound.invoke(deferred.prompt(state))]}

    graph = deferred.builder()
    graph.add_node("model", think)
    graph.add_node("tools", deferred.tool_node())
    graph.add_edge(START, "model")
    condition: Any = deferred.each_call if each_call else tools_condition
    graph.add_conditional_edges("model", condition, ["tools", END])
    graph.add_edge("tools", "model")
    output = run(graph.compile())
    assert [status for _, status, _ in told(output)] == ["error", "success"]
    assert noted.calls == RAN


def test_a_plain_loop_refuses_it(run: Runner, toolset_of: MakeToolset) -> None:
    noted = Noted()
    chat = Conversation(toolset_of(), tools=[noted.tool()])
    model = exact_calls(streaming(CUT, AGAIN))
    messages: list[Any] = [HumanMessage("go")]
    for _ in range(2):
        ai = run(model.bind_tools(chat.bound()), chat.prompt(messages))
        messages += [ai, *chat.run(ai)]
    answers = [it for it in messages if isinstance(it, ToolMessage)]
    assert [(it.tool_call_id, it.status) for it in answers] == [("i1", "error"), ("i2", "success")]
    assert noted.calls == RAN


def test_a_plain_loop_over_chunks_refuses_it(toolset_of: MakeToolset) -> None:
    noted = Noted()
    chat = Conversation(toolset_of(), tools=[noted.tool()])
    first, *others = exact_calls(streaming(CUT)).stream([HumanMessage("go")])
    whole = first + others
    assert isinstance(whole, AIMessage)
    [answer] = chat.run(whole)
    assert (answer.tool_call_id, answer.status) == ("i1", "error")
    assert noted.calls == []
