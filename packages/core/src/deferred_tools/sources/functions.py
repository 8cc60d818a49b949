"""Tools that live in this process: functions, lazy factories, import strings, other objects.

What a framework calls a tool, or an object that holds several, becomes ours through the
framework's adapter, found by the entry-point group `deferred_tools.adapters` under the name of
the object's top-level package, so that this module imports no framework.
"""

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, cast

import anyio.to_thread
from pydantic import BaseModel, PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import ArgsKwargs, PydanticSerializationError, to_json, to_jsonable_python

from deferred_tools.errors import (
    ConfigurationError,
    InvalidArgumentsError,
    SourceUnavailableError,
)
from deferred_tools.limits import Limits
from deferred_tools.sources.base import Report, SourceState, SourceStatus, Tool, ToolResult
from deferred_tools.spec import Tier, ToolSpec

ADAPTERS = "deferred_tools.adapters"

Adapter = Callable[[object, str], Tool | Iterable[Tool]]
"""Makes a framework's object, in the source of that name, a tool or the tools that it holds.

Raises `ConfigurationError` for what is none, and `SourceUnavailableError` where an object does
not give what it holds: that costs only itself.
"""


@dataclass(frozen=True, slots=True)
class Lazy:
    """A tool that is made when the tools are first asked for: `factory` returns it."""

    factory: Callable[[], object]


class FunctionSource:
    """The application's own tools, in the order given. Made at first use, not before."""

    tier = Tier.CODE

    def __init__(self, items: Iterable[object], *, name: str = "functions") -> None:
        """Take the tools.

        They may be functions, `Lazy` factories, `"package.module:attr"` strings, Tools, or
        objects of a framework whose adapter is installed: a tool, or what holds several.
        """
        self.name = name
        self.items = tuple(items)

    async def run(self, report: Report, limits: Limits) -> None:
        """Make the tools and report them once.

        Raises:
            ConfigurationError: One cannot be made; it is named.
        """
        tools: list[Tool] = []
        warnings: list[str] = []
        for item in self.items:
            try:
                tools += as_tools(item, self.name)
            except SourceUnavailableError as error:
                warnings.append(str(error))
        ready = SourceStatus.READY
        report(SourceState(status=ready, tools=tuple(tools), warnings=tuple(warnings)))


class FunctionTool:
    """A Python function as a tool: its signature is the schema, its docstring the description."""

    def __init__(self, function: Callable[..., Any], source: str = "functions") -> None:
        """Read the signature.

        Raises:
            ConfigurationError: It has no name, or a parameter that no JSON can fill.
        """
        name = getattr(function, "__name__", "")
        if not name or name == "<lambda>":
            raise ConfigurationError(
                f"{function!r} has no name that a model could call: use a named function"
            )
        self.function = function
        self._arguments = _arguments_of(function, name)
        self.spec = ToolSpec(
            source=source,
            tool=name,
            description=inspect.getdoc(function) or "",
            input_schema=self._arguments.json_schema(),
            tier=Tier.CODE,
        )

    async def call(self, arguments: dict[str, Any]) -> ToolResult:
        """Run the function: a coroutine here, a plain function in a worker thread.

        Raises:
            InvalidArgumentsError: pydantic does not accept the arguments.
        """
        try:
            args, kwargs = self._arguments.validate_python(ArgsKwargs((), arguments))
        except ValidationError as error:
            told = [f"{_path(e['loc'])}: {e['msg']}" for e in error.errors(include_url=False)]
            raise InvalidArgumentsError(self.spec.tool, told[:5]) from None
        run = functools.partial(self.function, *args, **kwargs)
        if inspect.iscoroutinefunction(self.function):
            return as_result(await run())
        answer = await anyio.to_thread.run_sync(run, abandon_on_cancel=True)
        # A plain function that wraps a coroutine gives what is still to be awaited.
        return as_result(await answer if inspect.isawaitable(answer) else answer)


def as_tool(item: object, source: str) -> Tool:
    """`item` as one Tool.

    Raises:
        ConfigurationError: It is nothing that can be one; the message says what to install or
            change.
    """
    try:
        tools = as_tools(item, source)
    except SourceUnavailableError as error:
        raise ConfigurationError(str(error)) from error
    if len(tools) != 1:
        raise ConfigurationError(f"{item!r} holds {len(tools)} tools: give the one that is meant")
    return tools[0]


def as_tools(item: object, source: str) -> tuple[Tool, ...]:
    """`item` as the Tools that it stands for: most often itself.

    Raises:
        ConfigurationError: It is nothing that can be one; the message says what to install or
            change.
        SourceUnavailableError: It holds tools, and does not give them.
    """
    if isinstance(item, Tool):
        return (item,)
    if isinstance(item, Lazy):
        return as_tools(_made(item.factory), source)
    if isinstance(item, str):
        return as_tools(_imported(item), source)
    if adapter := _adapter(item):
        made = adapter(item, source)
        return (made,) if isinstance(made, Tool) else tuple(made)
    if inspect.isroutine(item):
        return (FunctionTool(item, source),)
    raise ConfigurationError(
        f"{item!r} is not a tool. Give a named function, Lazy(factory), a 'package.module:attr' "
        "string, or a framework's tool object with its adapter installed "
        "(for LangChain: langchain-deferred-tools; for LlamaIndex: llama-index-tools-deferred)"
    )


def as_result(value: Any) -> ToolResult:
    """Whatever a function returned, as a result: text as it is, everything else as JSON."""
    if isinstance(value, ToolResult):
        return value
    if isinstance(value, str):
        return ToolResult(content=({"type": "text", "text": value},))
    try:
        plain = to_jsonable_python(value)
        text = to_json(plain).decode()
    except (PydanticSerializationError, ValueError):  # such as bytes that are no text
        return ToolResult(content=({"type": "text", "text": str(value)},))
    structured = plain if isinstance(value, Mapping | BaseModel) else None
    return ToolResult(content=({"type": "text", "text": text},), structured=structured)


def _arguments_of(function: Callable[..., Any], name: str) -> TypeAdapter[Any]:
    """Validates arguments against the signature and gives them back, without a call.

    So arguments are validated before the function runs, and a ValidationError of the
    function's own is not taken for bad arguments.
    """
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"function {name!r} has no readable signature: {error}") from None
    for parameter in parameters:
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            raise ConfigurationError(
                f"function {name!r}: parameter {parameter.name!r} cannot be given by name, so no "
                "model can fill it. Make it an ordinary or keyword-only parameter"
            )

    @functools.wraps(function)
    def given(*args: Any, **kwargs: Any) -> Any:
        return args, kwargs

    try:
        adapter: TypeAdapter[Any] = TypeAdapter(cast("Any", given))
        adapter.json_schema()
    except (PydanticUserError, NameError) as error:
        raise ConfigurationError(
            f"function {name!r} has a parameter that no JSON can fill: "
            f"{str(error).splitlines()[0]}. If a framework fills it in, give the function as a "
            "tool of that framework (LlamaIndex: FunctionTool, LangChain: @tool)"
        ) from None
    return adapter


def _made(factory: Callable[[], object]) -> object:
    try:
        return factory()
    except Exception as error:
        name = getattr(factory, "__qualname__", repr(factory))
        raise ConfigurationError(
            f"the tool factory {name!r} failed: {type(error).__name__}: {error}"
        ) from error


def _imported(path: str) -> object:
    module, _, attribute = path.partition(":")
    if not module or not attribute:
        raise ConfigurationError(f"{path!r} is not of the form 'package.module:attr'")
    try:
        return functools.reduce(getattr, attribute.split("."), import_module(module))
    except Exception as error:  # whatever the module's own code raises
        raise ConfigurationError(
            f"the tool {path!r} cannot be imported: {type(error).__name__}: {error}"
        ) from error


def _adapter(item: object) -> Adapter | None:
    """The converter of the framework that `item`'s class, or a base of it, comes from."""
    for base in type(item).__mro__:
        if point := _adapters().get(base.__module__.partition(".")[0]):
            adapter: Adapter = point.load()
            return adapter
    return None


@functools.cache
def _adapters() -> dict[str, EntryPoint]:
    # Reading what is installed takes milliseconds: once, not for each of a thousand tools.
    return {point.name: point for point in entry_points(group=ADAPTERS)}


def _path(location: tuple[int | str, ...]) -> str:
    return ".".join(str(step) for step in location)
