"""LangChain tools keep everything that LangChain gives its tools, bound late as well as early."""

import json
from typing import Annotated, Any, NotRequired

from langchain.agents import AgentState
from langchain.tools import InjectedState, InjectedStore, ToolRuntime
from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, InjectedToolArg, InjectedToolCallId, tool
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command

from deferred_tools import Toolset
from tests.support.agents import MakeToolset, Runner, agent_of, answers, told
from tests.support.scripted_model import call, says


class FlagState(AgentState[Any]):
    """A state with a flag."""

    flag: NotRequired[str]


@tool
def whole_state(number: int, state: Annotated[dict[str, Any], InjectedState]) -> str:
    """Sees the whole state."""
    return json.dumps([number, len(state["messages"]), "deferred_tools" in state])


@tool
def one_field(messages: Annotated[list[Any], InjectedState("messages")]) -> str:
    """Sees one field of the state."""
    return f"{len(messages)} messages"


@tool
def the_store(value: str, store: Annotated[Any, InjectedStore()]) -> str:
    """Writes to the store."""
    store.put(("notes",), "key", {"value": value})
    return "stored"


@tool
def the_runtime(word: str, runtime: ToolRuntime[Any, Any]) -> str:
    """Sees the runtime."""
    return json.dumps([word, runtime.context, runtime.tool_call_id])


@tool
def the_call_id(word: str, call_id: Annotated[str, InjectedToolCallId]) -> str:
    """Sees the id of its own call."""
    return f"{word} {call_id}"


@tool
def the_command(flag: str, call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
    """Changes the state."""
    return Command(update={"flag": flag, "messages": [ToolMessage("set", tool_call_id=call_id)]})


@tool(response_format="content_and_artifact")
def the_artifact(word: str) -> tuple[str, dict[str, str]]:
    """Gives an artifact."""
    return f"said {word}", {"word": word}


@tool
def hidden(word: str, user: Annotated[str, InjectedToolArg] = "nobody") -> str:
    """Has an argument that the model does not see."""
    return f"{word} for {user}"


def last_call(
    run: Runner, toolset: Toolset, made: Any, *, context: Any = None, **options: Any
) -> tuple[Any, Any]:
    """The specs that the model saw, and the output, of one enabled call."""
    script = [says(call("tool_search", names=[made["name"]])), says(made), says(text="ok")]
    model, agent = agent_of(script, toolset, **options)
    output = run(agent, "go", context=context)
    return model.turns[1].specs[1]["function"], output


def properties(spec: Any) -> list[str]:
    return list(spec["parameters"]["properties"])


def test_the_state_is_injected_whole(run: Runner, toolset_of: MakeToolset) -> None:
    spec, output = last_call(run, toolset_of([whole_state]), call("whole_state", number=3))
    assert properties(spec) == ["number"]
    assert json.loads(answers(output)[-1].text) == [3, 4, True]


def test_a_field_of_the_state_is_injected(run: Runner, toolset_of: MakeToolset) -> None:
    spec, output = last_call(run, toolset_of([one_field]), call("one_field"))
    assert properties(spec) == []
    assert answers(output)[-1].text == "4 messages"


def test_the_store_is_injected(run: Runner, toolset_of: MakeToolset) -> None:
    store = InMemoryStore()
    spec, _ = last_call(run, toolset_of([the_store]), call("the_store", value="milk"), store=store)
    assert properties(spec) == ["value"]
    item = store.get(("notes",), "key")
    assert item is not None
    assert item.value == {"value": "milk"}


def test_the_runtime_is_injected(run: Runner, toolset_of: MakeToolset) -> None:
    made = call("the_runtime", word="hi")
    spec, output = last_call(
        run, toolset_of([the_runtime]), made, context={"user": "ada"}, context_schema=dict
    )
    assert properties(spec) == ["word"]
    assert json.loads(answers(output)[-1].text) == ["hi", {"user": "ada"}, made["id"]]


def test_the_call_id_is_injected(run: Runner, toolset_of: MakeToolset) -> None:
    made = call("the_call_id", word="hi")
    spec, output = last_call(run, toolset_of([the_call_id]), made)
    assert properties(spec) == ["word"]
    assert answers(output)[-1].text == f"hi {made['id']}"


def test_a_command_changes_the_state(run: Runner, toolset_of: MakeToolset) -> None:
    _, output = last_call(
        run, toolset_of([the_command]), call("the_command", flag="on"), state_schema=FlagState
    )
    assert output["flag"] == "on"
    assert answers(output)[-1].text == "set"


def test_content_and_artifact_stay_apart(run: Runner, toolset_of: MakeToolset) -> None:
    _, output = last_call(run, toolset_of([the_artifact]), call("the_artifact", word="hi"))
    message = answers(output)[-1]
    assert (message.text, message.artifact) == ("said hi", {"word": "hi"})


def test_what_the_model_forges_for_injected_arguments_is_dropped(
    run: Runner, toolset_of: MakeToolset
) -> None:
    everything: list[BaseTool] = [whole_state, the_runtime, the_call_id, hidden]
    made = [
        call("whole_state", number=1, state={"messages": [], "deferred_tools": 1}),
        call("the_runtime", word="hi", runtime="forged"),
        call("the_call_id", word="hi", call_id="forged"),
        call("hidden", word="hi", user="root"),
    ]
    script = [
        says(call("tool_search", names=[one.name for one in everything])),
        says(*made),
        says(text="ok"),
    ]
    _, agent = agent_of(script, toolset_of(everything), context_schema=str)
    texts = [text for _, _, text in told(run(agent, "go", context="bob"))][1:]
    assert json.loads(texts[0]) == [1, 4, True]
    assert json.loads(texts[1]) == ["hi", "bob", made[1]["id"]]
    assert texts[2:] == [f"hi {made[2]['id']}", "hi for nobody"]


def test_a_complaint_about_arguments_says_nothing_of_injected_ones(
    run: Runner, toolset_of: MakeToolset
) -> None:
    _, output = last_call(
        run,
        toolset_of([the_runtime]),
        call("the_runtime", word=["not a word"]),
        context="secret",
        context_schema=str,
    )
    message = answers(output)[-1]
    assert message.status == "error"
    assert "word" in message.text
    assert "secret" not in message.text
    assert "runtime" not in message.text.replace("the_runtime", "")
