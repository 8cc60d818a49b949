"""Random streams through LlamaIndex's own class for OpenAI: every call is exact or refused."""

import asyncio
from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core.base.llms.types import ChatResponse, ToolCallBlock
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools import FunctionTool

from deferred_tools.bridge import DIALECTS, Complete, Invalid, Outcome, Reason
from llama_index.tools.deferred import exact_calls
from llama_index.tools.deferred.settled import UNNAMED, problem_in
from tests.support.llama_wire import Event, Wire, end, openai, part
from tests.support.stream_values import TOOLS, may_be_empty
from tests.support.streams import Stream, fault, in_text, random_stream

pytestmark = pytest.mark.thorough

CHAT = ("openai_chat", "deepseek", "vllm", "llama_cpp", "mistral", "unknown")
RANDOMS = st.randoms(use_true_random=False)


def bound(name: str) -> FunctionTool:
    """A tool as the model is given it."""

    def idle() -> str:
        return name

    def needs(serial: int) -> str:
        return name

    function = idle if may_be_empty(name) else needs
    return FunctionTool.from_defaults(function, name=name, description=name)


def chunks(stream: Stream) -> Iterator[Event]:
    """The stream as chunks of chat completions."""
    for text, it in in_text(stream):
        index = None if it.index is None else int(it.index)
        yield part(text, name=it.name, id=it.id, index=index)
    yield end(stream.reason)


def outcome(call: ToolSelection) -> Outcome:
    problem, id_ = problem_in(call.tool_kwargs), call.tool_id
    name = "" if call.tool_name == UNNAMED else call.tool_name
    if problem is None:
        return Complete(id_, id_, name, call.tool_kwargs)
    return Invalid(id_, id_, name, Reason.CONFLICTING, problem, "")


@pytest.mark.parametrize("dialect", CHAT)
@settings(max_examples=25, deadline=None)
@given(random=RANDOMS)
def test_every_call_is_exact_or_refused_and_the_message_has_the_same(
    dialect: str, random: Random
) -> None:
    stream = random_stream(random, dialect)
    llm = exact_calls(openai(Wire([*chunks(stream)])), dialect=DIALECTS[dialect])
    tools = [bound(name) for name in TOOLS]

    async def streamed() -> ChatResponse:
        found = [it async for it in await llm.astream_chat_with_tools(tools, user_msg="go")]
        return found[-1]

    last = asyncio.run(streamed())
    calls = llm.get_tool_calls_from_response(last, error_on_no_tool_call=False)
    assert fault(stream, [outcome(call) for call in calls]) is None
    assert all(call.tool_id for call in calls)
    blocks = [it for it in last.message.blocks if isinstance(it, ToolCallBlock)]
    assert [it.tool_call_id for it in blocks] == [call.tool_id for call in calls]
