"""The demo's agent, with real middleware over one function."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, ToolMessage

from deferred_tools import Toolset
from deferred_tools.errors import HostError
from langchain_deferred_tools.demo.agent import Watch, all_schemas_tokens, run
from langchain_deferred_tools.demo.scene import Step
from langchain_deferred_tools.demo.script import ScriptedModel

STEP = Step(
    source="functions",
    wish="How much is 1 + 2?",
    query="add two numbers",
    tool="add",
    arguments={"a": 1, "b": 2},
    tell="The sum is {}.".format,
)


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@pytest.fixture
def toolset() -> Iterator[Toolset]:
    """A toolset of one function."""
    with closing(Toolset.from_sources([add])) as opened:
        yield opened


def test_the_agent_searches_calls_and_answers_in_this_order(toolset: Toolset) -> None:
    watch = Watch()
    messages = list(run(toolset, ScriptedModel(steps=(STEP,)), STEP.wish, watch))
    assert [type(message) for message in messages] == [
        *(AIMessage, ToolMessage),
        *(AIMessage, ToolMessage),
        AIMessage,
    ]
    assert messages[-1].text == "The sum is 3."


def test_what_each_call_of_the_model_carried_is_seen(toolset: Toolset) -> None:
    watch = Watch()
    list(run(toolset, ScriptedModel(steps=(STEP,)), STEP.wish, watch))
    bound = [surface.bound for surface in watch.surfaces]
    assert bound == [("tool_search",), ("tool_search", "add"), ("tool_search", "add")]
    first, second, _ = watch.surfaces
    assert second.tokens - first.tokens == all_schemas_tokens(toolset)


def test_a_model_that_fails_is_an_error_of_ours(toolset: Toolset) -> None:
    cannot_bind_tools = FakeListChatModel(responses=["hi"])
    with pytest.raises(HostError, match="the model did not answer: NotImplementedError"):
        list(run(toolset, cannot_bind_tools, "Hello?", Watch()))
