"""Models whose calls are exact, or told not to be run; `settled` says how.

A model stays what it is, an object with its own class and state, seen through a subclass that
reads the provider's events along with it.
"""

import functools
import types
from collections.abc import AsyncGenerator, Generator, Sequence
from typing import Any, TypeVar, cast

from llama_index.core.base.llms.types import (
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
)
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import LLM, ToolSelection
from llama_index.core.tools import BaseTool
from pydantic import BaseModel

from deferred_tools.bridge import Dialect
from deferred_tools.bridge.dialects import dialect_of
from deferred_tools.errors import ConfigurationError
from llama_index.tools.deferred.heard import HeardCalls, Select
from llama_index.tools.deferred.settled import calls_in, problem_in

Model = TypeVar("Model", bound=LLM)

_DIALECTS = {
    "llama_index.llms.deepseek": "deepseek",
    "llama_index.llms.mistralai": "mistral",
}
"""By the package of the model's class. Other wires are told by their events, and `openai` and its
like speak to servers of every kind."""


def exact_calls(llm: Model, *, dialect: Dialect | None = None) -> Model:
    """`llm`, whose calls are exact, or told not to be run.

    It is of the same class, and shares all its state with the one given. Its `*_with_tools`
    methods and `get_tool_calls_from_response` are what differs: a stream may have one more
    response at its end. With `error_on_no_tool_call=False`, calls that cannot be run are among
    the others: hand all of them to `DeferredToolSession.asked` and `.call`, which tell the model
    what was wrong. Without it they are a ValueError, as for LlamaIndex's own programs and
    `predict_and_call`. Attached agents have such a model already.

    Args:
        llm: A model that calls functions.
        dialect: How its provider streams calls. By default what its class and its events tell;
            for chat completions `UNKNOWN`: calls are invalid that may be two, or have each
            other's arguments.

    Raises:
        ConfigurationError: It is some other model.
    """
    if not isinstance(llm, FunctionCallingLLM):
        raise ConfigurationError(
            f"calls of a {type(llm).__name__} cannot be made exact, as it is no "
            "FunctionCallingLLM: give `exact_calls` the model itself, not something around it"
        )
    kind: type[FunctionCallingLLM] = type(llm)
    if issubclass(kind, _Exact):
        if dialect is None:
            return llm
        kind = cast("type[FunctionCallingLLM]", kind.__base__)
    made = _exact(kind, dialect or dialect_of(kind, _DIALECTS))
    view = made.__new__(made)
    # A copy would have a state of its own, such as a counter.
    for slot in BaseModel.__slots__:
        object.__setattr__(view, slot, getattr(llm, slot))
    return cast("Model", view)


class _Exact:
    """Marks the classes that are made here."""

    __slots__ = ()


@functools.cache
def _exact(kind: type[FunctionCallingLLM], dialect: Dialect | None) -> type[FunctionCallingLLM]:
    """A subclass of `kind` with its name, by which instrumentation knows models."""

    def select(self: FunctionCallingLLM) -> Select:
        return functools.partial(
            kind.get_tool_calls_from_response, self, error_on_no_tool_call=False
        )

    def chat_with_tools(
        self: FunctionCallingLLM, tools: Sequence[BaseTool], *given: Any, **options: Any
    ) -> ChatResponse:
        response = kind.chat_with_tools(self, tools, *given, **options)
        return _whole(response, HeardCalls(tools, dialect), select(self))

    async def achat_with_tools(
        self: FunctionCallingLLM, tools: Sequence[BaseTool], *given: Any, **options: Any
    ) -> ChatResponse:
        response = await kind.achat_with_tools(self, tools, *given, **options)
        return _whole(response, HeardCalls(tools, dialect), select(self))

    def stream_chat_with_tools(
        self: FunctionCallingLLM, tools: Sequence[BaseTool], *given: Any, **options: Any
    ) -> ChatResponseGen:
        stream = kind.stream_chat_with_tools(self, tools, *given, **options)
        return _streamed(stream, HeardCalls(tools, dialect), select(self))

    async def astream_chat_with_tools(
        self: FunctionCallingLLM, tools: Sequence[BaseTool], *given: Any, **options: Any
    ) -> ChatResponseAsyncGen:
        stream = await kind.astream_chat_with_tools(self, tools, *given, **options)
        return _astreamed(stream, HeardCalls(tools, dialect), select(self))

    def get_tool_calls_from_response(
        self: FunctionCallingLLM,
        response: ChatResponse,
        error_on_no_tool_call: bool = True,
        **options: Any,
    ) -> list[ToolSelection]:
        calls = calls_in(response)
        if calls is None:
            return kind.get_tool_calls_from_response(
                self, response, error_on_no_tool_call=error_on_no_tool_call, **options
            )
        problems = [problem for call in calls if (problem := problem_in(call.tool_kwargs))]
        if problems and error_on_no_tool_call:
            raise ValueError(" ".join(problems))
        return calls

    names: dict[str, Any] = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    for override in (
        chat_with_tools,
        achat_with_tools,
        stream_chat_with_tools,
        astream_chat_with_tools,
        get_tool_calls_from_response,
    ):
        name = override.__name__
        names[name] = functools.wraps(getattr(kind, name))(override)
    made = types.new_class(kind.__name__, (kind, _Exact), exec_body=lambda it: it.update(names))
    return cast("type[FunctionCallingLLM]", made)


def _whole(response: ChatResponse, calls: HeardCalls, select: Select) -> ChatResponse:
    calls.add(response)
    return calls.settled(response, select)


def _streamed(
    stream: ChatResponseGen, calls: HeardCalls, select: Select
) -> Generator[ChatResponse, None, None]:
    last = None
    for last in stream:
        calls.add(last)
        yield last
    if last and (settled := calls.settled(last, select)) is not last:
        yield settled


async def _astreamed(
    stream: ChatResponseAsyncGen, calls: HeardCalls, select: Select
) -> AsyncGenerator[ChatResponse, None]:
    last = None
    async for last in stream:
        calls.add(last)
        yield last
    if last and (settled := calls.settled(last, select)) is not last:
        yield settled
