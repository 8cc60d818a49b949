"""Models whose tool calls are exact, or marked as not to be run; `settled` has the mark.

A model stays what it is, an object with its own class and state, seen through a subclass that
corrects what it streams before LangChain adds it up, and checks what comes out.
"""

import functools
import types
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.runnables import Runnable, RunnableWithFallbacks
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.utils.function_calling import convert_to_openai_function
from pydantic import BaseModel

from deferred_tools.bridge import UNKNOWN, Dialect, ToolCallAssembler
from deferred_tools.bridge.dialects import dialect_of
from deferred_tools.errors import ConfigurationError
from langchain_deferred_tools.chunks import ExactChunks
from langchain_deferred_tools.settled import settled

Model = TypeVar("Model", bound=Runnable[Any, Any])

_DIALECTS = {
    "langchain_anthropic": "anthropic",
    "langchain_deepseek": "deepseek",
    "langchain_google_genai": "gemini",
    "langchain_mistralai": "mistral",
    "langchain_ollama": "ollama",
}
"""By the package of the model's class. `langchain_openai` speaks to servers of every kind."""


def exact_calls(model: Model, *, dialect: Dialect | None = None) -> Model:
    """`model`, with messages whose calls are exact, or marked as not to be run.

    It is of the same class, and shares all its state with the one given. It may have bound tools,
    retries or fallbacks already. `DeferredToolsMiddleware` does this with the agent's model. What
    runs calls without it, `DeferredToolsGraph` or `Conversation` has to leave out those that
    `invalid_calls` names, since they have no arguments.

    Args:
        model: A chat model, or one in such a wrapper.
        dialect: How its provider streams calls. By default what is known of the model's class,
            else `UNKNOWN`: calls are invalid that may be two, or have each other's arguments.

    Raises:
        ConfigurationError: There is no chat model in it that could be reached.
    """
    exact = exact_if_possible(model, dialect)
    if exact is None:
        raise ConfigurationError(
            f"calls of a {type(model).__name__} cannot be made exact: give `exact_calls` the chat "
            "model itself, before it is made part of a chain, or hand its messages to `settled`"
        )
    return exact


def exact_if_possible(model: Model, dialect: Dialect | None = None) -> Model | None:
    """`exact_calls`; None where that would raise."""
    if isinstance(model, BaseChatModel):
        return cast("Model", _view(model, dialect))
    if isinstance(model, RunnableBindingBase):
        bound = exact_if_possible(model.bound, dialect)
        return cast("Model", model.model_copy(update={"bound": bound})) if bound else None
    if isinstance(model, RunnableWithFallbacks):
        models = [exact_if_possible(it, dialect) for it in model.runnables]
        if None not in models:
            changed = {"runnable": models[0], "fallbacks": models[1:]}
            return cast("Model", model.model_copy(update=changed))
    return None


class _Exact:
    """Marks the classes that are made here."""

    __slots__ = ()


def _view(model: BaseChatModel, dialect: Dialect | None) -> BaseChatModel:
    """`model` through another class. A copy would have a state of its own, such as a counter."""
    kind = type(model)
    if isinstance(model, _Exact):
        if dialect is None:
            return model
        kind = cast("type[BaseChatModel]", kind.__base__)
    made = _exact(kind, dialect or dialect_of(kind, _DIALECTS) or UNKNOWN)
    view = made.__new__(made)
    for slot in BaseModel.__slots__:
        object.__setattr__(view, slot, getattr(model, slot))
    return view


@functools.cache
def _exact(kind: type[BaseChatModel], dialect: Dialect) -> type[BaseChatModel]:
    """A subclass of `kind` with its name, by which caches and traces know models."""

    def invoke(self: BaseChatModel, *given: Any, **options: Any) -> AIMessage:
        return settled(kind.invoke(self, *given, **options))

    async def ainvoke(self: BaseChatModel, *given: Any, **options: Any) -> AIMessage:
        return settled(await kind.ainvoke(self, *given, **options))

    def _stream(self: BaseChatModel, *given: Any, **options: Any) -> Iterator[ChatGenerationChunk]:
        chunks = _chunks(dialect, options)
        for chunk in kind._stream(self, *given, **options):
            yield chunks.add(chunk)
        if closing := chunks.closing():
            yield closing

    async def _astream(
        self: BaseChatModel, *given: Any, **options: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        chunks = _chunks(dialect, options)
        async for chunk in kind._astream(self, *given, **options):
            yield chunks.add(chunk)
        if closing := chunks.closing():
            yield closing

    overrides: list[Callable[..., Any]] = [invoke, ainvoke]
    # LangChain sees by these whether a model streams; the second falls back on the first.
    if kind._stream is not BaseChatModel._stream:
        overrides.append(_stream)
    if kind._astream is not BaseChatModel._astream:
        overrides.append(_astream)
    names: dict[str, Any] = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    for override in overrides:
        name = override.__name__
        names[name] = functools.wraps(getattr(kind, name))(override)
    made = types.new_class(kind.__name__, (kind, _Exact), exec_body=lambda it: it.update(names))
    return cast("type[BaseChatModel]", made)


def _chunks(dialect: Dialect, options: Mapping[str, Any]) -> ExactChunks:
    tools = options.get("tools") or ()
    may_be_empty = functools.partial(_may_be_empty, tools)
    return ExactChunks(ToolCallAssembler(dialect, may_be_empty=may_be_empty))


def _may_be_empty(tools: Sequence[object], name: str) -> bool:
    """Whether the tool of that name requires no arguments; no, where that is not known."""
    for tool in tools:
        try:
            function = convert_to_openai_function(_function(tool))
        except (KeyError, TypeError, ValueError):
            continue
        if function["name"] == name:
            return not (function.get("parameters") or {}).get("required")
    return False


def _function(tool: object) -> Any:
    return tool.get("function", tool) if isinstance(tool, Mapping) else tool
