"""Random streams through LangChain's own adding up: every call is exact or refused."""

from collections.abc import Iterator, Sequence
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.messages.ai import add_ai_message_chunks

from deferred_tools.bridge import DIALECTS, Complete, Invalid, Outcome, Reason
from langchain_deferred_tools import exact_calls, settled
from langchain_deferred_tools.settled import invalid_calls
from tests.support.stream_values import TOOLS, may_be_empty
from tests.support.streaming_model import end, part, streaming
from tests.support.streams import Stream, fault, in_text, random_stream

pytestmark = pytest.mark.thorough

RANDOMS = st.randoms(use_true_random=False)
GO = [HumanMessage("go")]
ORDER = "another order"
"""LangChain keeps calls in the order in which they began, which need not be that of the wire."""


def bound(name: str) -> dict[str, object]:
    """A tool as a provider is told of it."""
    required = [] if may_be_empty(name) else ["serial"]
    return {"type": "function", "function": {"name": name, "parameters": {"required": required}}}


def chunks(stream: Stream) -> Iterator[AIMessageChunk]:
    """The stream as an integration of LangChain's hands it on."""
    for text, it in in_text(stream):
        index = None if it.index is None else int(it.index)
        yield part(text, name=it.name, id=it.id, index=index)
    yield end(stream.reason)


def outcomes(message: AIMessage) -> list[Outcome]:
    """What the message says of its calls."""
    told = invalid_calls(message)
    return [
        Invalid(id_, id_, call["name"], Reason.CONFLICTING, told[id_], "")
        if id_ in told
        else Complete(id_, id_, call["name"], call["args"])
        for call in message.tool_calls
        if (id_ := call["id"] or "")
    ]


def check(stream: Stream, messages: Sequence[AIMessage]) -> None:
    for message in messages:
        assert message.invalid_tool_calls == []
        assert len({call["id"] for call in message.tool_calls}) == len(message.tool_calls)
        assert fault(stream, outcomes(message)) in (None, ORDER)


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
@settings(max_examples=50)
@given(random=RANDOMS)
def test_every_call_of_a_message_is_exact_or_refused(dialect: str, random: Random) -> None:
    stream = random_stream(random, dialect)
    wire = [*chunks(stream)]
    model = exact_calls(streaming(wire, wire), dialect=DIALECTS[dialect])
    bound_model = model.bind(tools=[bound(name) for name in TOOLS])
    streamed = [it for it in bound_model.stream(GO) if isinstance(it, AIMessageChunk)]
    check(stream, [bound_model.invoke(GO), settled(add_ai_message_chunks(*streamed))])
