"""A model with `exact_calls` is what it was in every other respect."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.runnables import RunnableLambda
from pydantic import BaseModel

from deferred_tools.bridge import DIALECTS
from deferred_tools.errors import ConfigurationError
from langchain_deferred_tools import exact_calls, settled
from langchain_deferred_tools.settled import invalid_calls
from tests.support.agents import Runner
from tests.support.scripted_model import ScriptedModel, call, says
from tests.support.streaming_model import (
    AsyncStreamingModel,
    StreamingModel,
    end,
    part,
    streaming,
)

GO = [HumanMessage("go")]
PIECES = [part("", name="read", id="i1"), part('{"page"'), part(":1}"), end()]
READ = [{"name": "read", "args": {"page": 1}, "id": "i1", "type": "tool_call"}]


class Page(BaseModel):
    """A page."""

    page: int


def added_up(chunks: Sequence[AIMessageChunk]) -> AIMessageChunk:
    first, *others = chunks
    whole = first + others
    assert isinstance(whole, AIMessageChunk)
    return whole


def test_it_is_of_the_same_class_under_the_same_name() -> None:
    model = streaming()
    exact = exact_calls(model)
    assert isinstance(exact, StreamingModel)
    assert type(exact).__qualname__ == type(model).__qualname__
    assert dumpd(exact) == dumpd(model)


def test_it_shares_all_state_with_the_model_both_ways() -> None:
    model = FakeMessagesListChatModel(responses=[says(text="one"), says(text="two")])
    assert exact_calls(model).invoke(GO).content == "one"
    assert model.invoke(GO).content == "two"
    exact_calls(model).invoke(GO)
    assert model.i == 1


def test_the_model_itself_stays_as_it_is() -> None:
    model = streaming(PIECES, PIECES)
    assert exact_calls(model).invoke(GO).tool_calls == READ
    assert model.invoke(GO).tool_calls != READ


def test_it_is_done_once() -> None:
    exact = exact_calls(streaming())
    assert exact_calls(exact) is exact


def test_a_model_that_streams_only_when_async_is_left_to_that(run: Runner) -> None:
    message = says(call("read", page=1))
    script: list[Any] = [PIECES] if run.colour == "async" else [message]
    answer = run(exact_calls(AsyncStreamingModel(script=script, streaming=True)), GO)
    assert answer.tool_calls[0]["args"] == {"page": 1}


@pytest.mark.parametrize("kind", [StreamingModel, AsyncStreamingModel])
def test_chunks_can_be_added_up_by_anybody(kind: type[StreamingModel]) -> None:
    model = exact_calls(kind(script=[PIECES], streaming=True))

    async def collect() -> list[AIMessageChunk]:
        return [chunk async for chunk in model.astream(GO)]

    chunks = asyncio.run(collect())
    assert added_up(chunks).tool_calls == READ
    assert [chunk.chunk_position for chunk in chunks].count("last") == 1
    assert chunks[-1].chunk_position == "last"


def test_what_was_added_up_says_which_calls_cannot_be_run() -> None:
    cut = [part('{"page":1', name="read", id="i1", index=0), end("length")]
    whole = added_up([*exact_calls(streaming(cut)).stream(GO)])
    assert list(invalid_calls(whole)) == ["i1"]
    message = settled(whole)
    assert type(message) is AIMessage
    assert [call["args"] for call in message.tool_calls] == [{}]


def test_listeners_hear_the_chunks_as_they_are_handed_on() -> None:
    heard: list[AIMessageChunk] = []

    class Listener(BaseCallbackHandler):
        def on_llm_new_token(self, token: Any, *, chunk: Any = None, **_: Any) -> None:
            heard.append(chunk.message)

    model = exact_calls(streaming(PIECES))
    model.invoke(GO, {"callbacks": [Listener()]})
    assert added_up(heard).tool_calls == READ


def test_everything_but_calls_is_left_alone() -> None:
    usage = UsageMetadata(input_tokens=3, output_tokens=1, total_tokens=4)
    blocks: list[Any] = [
        {"type": "reasoning", "reasoning": "hm", "index": 0},
        {"type": "server_tool_call_chunk", "name": "web", "args": '{"q":', "id": "s", "index": 1},
        {"type": "server_tool_call_chunk", "args": '"x"}', "index": 1},
        {"type": "text", "text": "so", "index": 2},
    ]
    chunks = [
        *(AIMessageChunk(content=[block], id="m") for block in blocks),
        part('{"page"', name="read", id="i1", index=3).model_copy(update={"id": "m"}),
        part(":1}", index=3).model_copy(update={"id": "m"}),
        AIMessageChunk(content=[], id="m", usage_metadata=usage, additional_kwargs={"k": 1}),
    ]
    plain, exact = (
        model.invoke(GO) for model in (streaming(chunks), exact_calls(streaming(chunks)))
    )
    assert exact == plain
    assert exact.tool_calls == READ


def test_bound_tools_and_structured_output_are_exact(run: Runner) -> None:
    def read(page: int) -> str:
        """Read a page."""
        return str(page)

    assert run(exact_calls(streaming(PIECES)).bind_tools([read]), GO).tool_calls == READ
    assert run(exact_calls(streaming(PIECES).bind_tools([read])), GO).tool_calls == READ
    pieces = [part("", name="Page", id="i1"), part('{"page"'), part(":1}"), end()]
    model = exact_calls(streaming(pieces)).with_structured_output(Page)
    assert run(model, GO) == Page(page=1)


def test_retries_and_fallbacks_are_exact(run: Runner) -> None:
    broken = ScriptedModel(script=[])
    chain = broken.with_fallbacks([streaming(PIECES)], exceptions_to_handle=(AssertionError,))
    assert run(exact_calls(chain), GO).tool_calls == READ
    assert run(exact_calls(streaming(PIECES).with_retry()), GO).tool_calls == READ


def test_a_message_from_the_cache_is_as_exact(run: Runner) -> None:
    cut = [part('{"page":1', name="read", id="i1", index=0), end("length")]
    model = StreamingModel(script=[cut], streaming=True, cache=InMemoryCache())
    first, second = (run(exact_calls(model), GO) for _ in range(2))
    assert len(model.turns) == 1
    assert first.tool_calls == second.tool_calls == [{**READ[0], "args": {}}]
    assert invalid_calls(first) == invalid_calls(second)


def test_whole_messages_are_checked_too(run: Runner) -> None:
    cut = says(call("read", page=1)).model_copy(
        update={"response_metadata": {"stop_reason": "max_tokens"}}
    )
    message = run(exact_calls(ScriptedModel(script=[cut])), GO)
    assert list(invalid_calls(message)) == [message.tool_calls[0]["id"]]


def test_what_has_no_model_that_can_be_reached_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match=r"RunnableLambda cannot be made exact.*settled"):
        exact_calls(RunnableLambda(lambda _: says()))
    with pytest.raises(ConfigurationError, match="RunnableSequence"):
        exact_calls(streaming() | RunnableLambda(lambda it: it))


def test_the_wire_can_be_named() -> None:
    renewed = [
        part("", name="read", id="i1", index=0),
        part('{"page"', id="i2", index=0),
        part(":1}", id="i3", index=0),
        end(),
    ]
    careful = exact_calls(streaming(renewed, renewed))
    assert invalid_calls(careful.invoke(GO))
    assert exact_calls(careful, dialect=DIALECTS["vllm"]).invoke(GO).tool_calls == READ


def test_the_wire_of_known_models_is_known() -> None:
    class ChatOllama(StreamingModel):
        """As far as its module says."""

    ChatOllama.__module__ = "langchain_ollama.chat_models"
    whole = part(None, name="now")
    twice = [whole, whole, end("stop")]
    now = {"type": "function", "function": {"name": "now"}}
    careful, known = (
        exact_calls(kind(script=[twice], streaming=True)).bind(tools=[now]).invoke(GO)
        for kind in (StreamingModel, ChatOllama)
    )
    assert invalid_calls(careful)
    assert [(call["name"], call["args"]) for call in known.tool_calls] == [("now", {})] * 2
    assert not invalid_calls(known)
