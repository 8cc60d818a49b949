"""A helper agent takes over what its host says; exposure goes down to it and comes back up."""

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, InterruptOnConfig
from langchain_core.messages import HumanMessage
from langchain_core.tools import BaseTool, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from deferred_tools import Caller, Grant, Grants, Toolset
from deferred_tools.errors import ConfigurationError
from deferred_tools.nesting import asking
from langchain_deferred_tools import Conversation
from langchain_deferred_tools.middleware import DeferredToolsMiddleware
from langchain_deferred_tools.state import STATE_KEY
from tests.support.agents import MakeToolset, Runner, Tools, agent_of, answers, thread, told
from tests.support.guarded import Guarded, settings
from tests.support.scripted_model import ScriptedModel, call, says

DONE = says(text="done")
ASK = says(call("helper", task="go"))


@pytest.fixture
def guarded() -> Guarded:
    return Guarded(Tools("function"))


@pytest.fixture
def toolset(toolset_of: MakeToolset, guarded: Guarded) -> Toolset:
    return toolset_of(guarded.all, settings=settings())


def search(*names: str) -> Any:
    return says(call("tool_search", names=list(names)))


def helper_of(
    script: list[Any], toolset: Toolset, name: str = "helper", **options: Any
) -> tuple[ScriptedModel, BaseTool]:
    """A tool in which an agent works, as people write it: nothing in it is ours."""
    model = ScriptedModel(script=script)
    own = options.pop("tools", [])
    middleware = [*options.pop("before", []), DeferredToolsMiddleware(toolset, **options)]
    inner = create_agent(model, tools=own, middleware=middleware)

    def ask(task: str) -> str:
        """Ask the helper."""
        return str(inner.invoke({"messages": [HumanMessage(task)]})["messages"][-1].text)

    async def aask(task: str) -> str:
        """Ask the helper."""
        result = await inner.ainvoke({"messages": [HumanMessage(task)]})
        return str(result["messages"][-1].text)

    return model, tool(name)(ask).model_copy(update={"coroutine": aask})


def _plain(tool: BaseTool) -> Any:
    """`tool` as a function, which a toolset runs in its own loop and thread."""

    async def helper(task: str) -> Any:
        """Ask the helper."""
        return await tool.ainvoke({"task": task})

    return helper


@pytest.mark.parametrize(
    ("inherit", "bound"),
    [
        ("none", []),
        ("inherit", ["fetch_page", "add_up"]),
        (["add_up", "post_note"], ["add_up"]),
        ([], []),
    ],
)
def test_a_helper_has_what_its_host_lets_it_inherit(
    run: Runner, toolset: Toolset, guarded: Guarded, inherit: Any, bound: list[str]
) -> None:
    inner, helper = helper_of([says(call("add_up")), DONE], toolset, inherit=inherit)
    _, agent = agent_of([search("fetch_page", "add_up"), ASK, DONE], toolset, tools=[helper])
    run(agent)
    assert inner.turns[0].tools == ["tool_search", *bound]
    assert guarded.ran == (["add_up"] if "add_up" in bound else [])


def test_what_it_inherits_it_keeps_beside_what_it_finds(
    run: Runner, toolset: Toolset, guarded: Guarded
) -> None:
    script = [search("send_mail"), says(call("add_up"), call("send_mail")), DONE]
    inner, helper = helper_of(script, toolset, inherit="inherit")
    outer, agent = agent_of([search("add_up"), ASK, DONE], toolset, tools=[helper])
    run(agent)
    assert [turn.tools[1:] for turn in inner.turns[1:]] == [["add_up", "send_mail"]] * 2
    assert sorted(guarded.ran) == ["add_up", "send_mail"]
    assert outer.turns[-1].tools == ["tool_search", "helper", "add_up"]


def test_a_caller_narrowed_from_the_one_that_asks_reaches_no_more_than_that(
    run: Runner, toolset_of: MakeToolset, guarded: Guarded
) -> None:
    def narrowed(context: Any, config: Any) -> Caller | None:
        session = asking()
        return session.caller.child("helper", allow=["add_*", "send_*"]) if session else None

    grants = Grants([Grant(tools=("add_*", "fetch_*"))])
    toolset = toolset_of(guarded.all, policies=[grants])
    script = [search("fetch_page", "send_mail"), says(call("fetch_page"), call("add_up")), DONE]
    inner, helper = helper_of(script, toolset, caller=narrowed, inherit="inherit")
    script = [search("fetch_page", "add_up"), ASK, DONE]
    user = Caller.principal("ada", roles=["clerk"])
    _, agent = agent_of(script, toolset, tools=[helper], caller=user)
    run(agent)
    assert [turn.tools[1:] for turn in inner.turns] == [["add_up"]] * 3
    assert guarded.ran == ["add_up"]


def test_another_text_is_an_error_of_the_developer_s(toolset: Toolset) -> None:
    with pytest.raises(ConfigurationError, match="a list of tools' names, not 'add_up'"):
        DeferredToolsMiddleware(toolset, inherit="add_up")


@pytest.mark.parametrize("inherit", ["none", "inherit"])
def test_a_helper_is_exposed_to_what_the_one_that_asks_it_has_read(
    run: Runner, toolset: Toolset, guarded: Guarded, inherit: str
) -> None:
    inner, helper = helper_of(
        [search("post_note"), says(call("post_note")), DONE], toolset, inherit=inherit
    )
    reads = says(call("fetch_page"), call("read_vault"))
    script = [search("fetch_page", "read_vault"), reads, ASK, DONE]
    _, agent = agent_of(script, toolset, tools=[helper])
    run(agent)
    assert "blocked_by_policy" in inner.turns[1].messages[-1].text
    assert "post_note" not in guarded.ran


@pytest.mark.parametrize("depth", [1, 2])
def test_the_one_that_asks_is_exposed_to_what_its_helpers_have_read(
    run: Runner, toolset: Toolset, guarded: Guarded, depth: int
) -> None:
    reads = [search("fetch_page", "read_vault"), says(call("fetch_page"), call("read_vault")), DONE]
    _, helper = helper_of(reads, toolset)
    if depth == 2:
        _, helper = helper_of([ASK, DONE], toolset, tools=[helper])
    script = [ASK, search("post_note"), says(call("post_note")), DONE]
    _, agent = agent_of(script, toolset, tools=[helper], checkpointer=InMemorySaver())
    output = run(agent, "go", thread())
    assert "blocked_by_policy" in answers(output)[1].text
    assert sorted(guarded.ran) == ["fetch_page", "read_vault"]
    ledger = agent.get_state(thread()).values[STATE_KEY]
    assert ledger["exposed"] == ["sensitive", "untrusted_input"]
    assert "ledger" not in ledger, "what a helper enabled stays with it"


@pytest.mark.parametrize("kind", ["function", "langchain"])
def test_a_helper_that_is_itself_deferred_brings_its_exposure_too(
    run: Runner, toolset_of: MakeToolset, guarded: Guarded, kind: str
) -> None:
    inside = toolset_of(guarded.all, settings=settings())
    reads = [search("fetch_page", "read_vault"), says(call("fetch_page"), call("read_vault")), DONE]
    _, helper = helper_of(reads, inside)
    deferred = _plain(helper) if kind == "function" else helper
    toolset = toolset_of([*guarded.all, deferred], settings=settings())
    script = [search("helper"), ASK, search("post_note"), says(call("post_note")), DONE]
    _, agent = agent_of(script, toolset)
    run(agent)
    assert sorted(guarded.ran) == ["fetch_page", "read_vault"]


def test_helpers_side_by_side_bring_both_their_exposures(
    run: Runner, toolset: Toolset, guarded: Guarded
) -> None:
    names = {"one": "fetch_page", "two": "read_vault"}
    helpers = [
        helper_of([search(read), says(call(read)), DONE], toolset, name)[1]
        for name, read in names.items()
    ]
    both = says(*(call(name, task="go") for name in names))
    _, agent = agent_of([both, search("post_note"), DONE], toolset, tools=helpers)
    assert "blocked_by_policy" in told(run(agent))[-1][2]


def test_a_plain_loop_within_a_tool_takes_part_as_an_agent_does(
    toolset: Toolset, guarded: Guarded
) -> None:
    @tool
    def helper(task: str) -> str:
        """Ask the helper."""
        chat = Conversation(toolset, caller=Caller.subagent("helper"))
        for message in (search("read_vault"), says(call("read_vault"))):
            answer = chat.run(message)[-1].text
        return str(answer)

    chat = Conversation(toolset, tools=[helper])
    for message in (search("fetch_page"), says(call("fetch_page")), ASK):
        chat.run(message)
    assert chat.session.exposed == ("sensitive", "untrusted_input")
    assert "blocked_by_policy" in chat.run(search("post_note"))[0].text


def test_a_helper_that_waits_for_the_host_goes_on_where_it_was(
    run: Runner, toolset_of: MakeToolset, guarded: Guarded
) -> None:
    toolset = toolset_of(guarded.all, settings=settings("ask"))
    everything = ["fetch_page", "read_vault", "post_note"]
    # Side by side no search sees what the others enable, so that it shows at the call.
    searches = says(*(call("tool_search", names=[name]) for name in everything))
    script = [searches, says(*map(call, everything)), DONE]
    _, helper = helper_of(script, toolset)
    saver = InMemorySaver()
    _, agent = agent_of([ASK, DONE], toolset, tools=[helper], checkpointer=saver)
    [waiting] = run(agent, "go", thread())["__interrupt__"]
    assert [tool["name"] for tool in waiting.value["tools"]] == ["post_note"]
    run(agent, Command(resume=True), thread())
    assert sorted(guarded.ran) == sorted(everything)
    exposed = agent.get_state(thread()).values[STATE_KEY]["exposed"]
    assert exposed == ["sensitive", "untrusted_input"]


def test_a_reviewer_is_asked_about_what_was_inherited(
    run: Runner, toolset: Toolset, guarded: Guarded
) -> None:
    ours = DeferredToolsMiddleware(toolset, inherit="inherit")
    config = InterruptOnConfig(allowed_decisions=["approve"], when=ours.is_enabled)
    model = ScriptedModel(script=[says(call("add_up")), DONE])
    inner = create_agent(model, middleware=[ours, HumanInTheLoopMiddleware({"add_up": config})])

    @tool
    def helper(task: str) -> str:
        """Ask the helper."""
        return str(inner.invoke({"messages": [HumanMessage(task)]})["messages"][-1].text)

    saver = InMemorySaver()
    _, agent = agent_of([search("add_up"), ASK, DONE], toolset, tools=[helper], checkpointer=saver)
    assert len(run(agent, "go", thread())["__interrupt__"]) == 1
    assert guarded.ran == []
