"""Functions, factories, import strings and other objects as tools."""

import enum
import functools
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio
import pytest
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from deferred_tools import (
    Caller,
    FunctionSource,
    FunctionTool,
    Lazy,
    Limits,
    Session,
    Tier,
    Toolset,
)
from deferred_tools.errors import ConfigurationError, InvalidArgumentsError
from deferred_tools.sources.base import SourceState, SourceStatus, ToolResult
from deferred_tools.sources.functions import as_result, as_tool
from deferred_tools.testing.sources import ScriptedTool

USER: ContextVar[str] = ContextVar("user", default="nobody")


def run(tool: FunctionTool, **arguments: Any) -> ToolResult:
    return anyio.run(tool.call, arguments)


def made(*items: object) -> SourceState:
    """What a source of these items reports."""
    states: list[SourceState] = []
    anyio.run(FunctionSource(items).run, states.append, Limits())
    (state,) = states
    return state


# --- what a signature says


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Address(BaseModel):
    street: str
    zip: str = Field(pattern="^[0-9]{5}$")


@dataclass
class Point:
    x: int
    y: int = 0


def everything(
    text: str,
    count: Annotated[int, Field(ge=1, le=9, description="How many.")],
    ratio: float = 0.5,
    *,
    colour: Colour = Colour.RED,
    size: Literal["s", "m"] = "s",
    home: Address | None = None,
    points: Sequence[Point] = (),
    day: date | None = None,
    extra: Any = None,
) -> str:
    """Take everything.

    In all its forms.
    """
    return repr((text, count, ratio, colour, size, home, points, day, extra))


def test_a_signature_is_the_schema_and_the_docstring_the_description() -> None:
    spec = FunctionTool(everything).spec
    assert (spec.source, spec.tool, spec.tier) == ("functions", "everything", Tier.CODE)
    assert spec.description == "Take everything.\n\nIn all its forms."
    schema = spec.parameters
    assert schema["required"] == ["text", "count"]
    assert schema["additionalProperties"] is False
    properties = schema["properties"]
    assert list(properties) == [
        "text", "count", "ratio", "colour", "size", "home", "points", "day", "extra",
    ]  # fmt: skip
    assert properties["count"] == {
        "description": "How many.", "maximum": 9, "minimum": 1, "title": "Count", "type": "integer",
    }  # fmt: skip
    assert properties["ratio"]["default"] == 0.5
    assert properties["size"]["enum"] == ["s", "m"]
    assert schema["$defs"]["Colour"]["enum"] == ["red", "blue"]
    assert schema["$defs"]["Address"]["required"] == ["street", "zip"]


def test_arguments_become_what_the_signature_says() -> None:
    result = run(
        FunctionTool(everything),
        text="a",
        count=3,
        colour="blue",
        home={"street": "x", "zip": "01234"},
        points=[{"x": 1}],
        day="2026-01-02",
    )
    assert result.text == repr(
        ("a", 3, 0.5, Colour.BLUE, "s", Address(street="x", zip="01234"), [Point(1)],
         date(2026, 1, 2), None)
    )  # fmt: skip


def test_a_number_that_came_as_text_is_a_number() -> None:
    def add(one: int, two: float) -> float:
        return one + two

    assert run(FunctionTool(add), one="3", two="0.5").text == "3.5"


def test_a_function_without_arguments_or_docstring_is_a_tool() -> None:
    def ping() -> str:
        return "pong"

    ping.__annotations__.clear()
    tool = FunctionTool(ping)
    assert tool.spec.description == ""
    assert tool.spec.parameters["properties"] == {}
    assert run(tool).text == "pong"


def test_an_argument_without_annotation_takes_anything() -> None:
    def echo(value: object) -> object:
        return value

    echo.__annotations__.clear()
    assert run(FunctionTool(echo), value={"a": [1]}).structured == {"a": [1]}


def test_an_argument_goes_by_its_alias() -> None:
    def send(sender: Annotated[str, Field(alias="from")]) -> str:
        return sender

    tool = FunctionTool(send)
    assert list(tool.spec.parameters["properties"]) == ["from"]
    assert run(tool, **{"from": "eve"}).text == "eve"


def test_open_keyword_arguments_take_what_is_not_named() -> None:
    def note(title: str, **more: int) -> str:
        return f"{title} {sorted(more.items())}"

    tool = FunctionTool(note)
    assert tool.spec.parameters["additionalProperties"] == {"type": "integer"}
    assert run(tool, title="t", b=2, a=1).text == "t [('a', 1), ('b', 2)]"


def test_a_method_is_a_tool_of_its_object() -> None:
    class Counter:
        def __init__(self) -> None:
            self.total = 0

        def add(self, amount: int) -> int:
            """Add."""
            self.total += amount
            return self.total

    counter = Counter()
    tool = FunctionTool(counter.add)
    assert list(tool.spec.parameters["properties"]) == ["amount"]
    run(tool, amount=2)
    assert run(tool, amount=3).text == "5"


# --- what cannot be one


def positional(value: int, /) -> None: ...


def several(*values: int) -> None: ...


def calls_back(back: Callable[[], int]) -> None: ...


def takes_a_lock(lock: threading.Lock) -> None: ...


def annotated(annotation: object) -> Callable[..., None]:
    """A function whose argument is annotated with what no type checker would let pass."""

    def odd(value: Any) -> None: ...

    odd.__annotations__["value"] = annotation
    return odd


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (positional, "'value' cannot be given by name"),
        (several, "'values' cannot be given by name"),
        (calls_back, "no JSON can fill"),
        (takes_a_lock, "no JSON can fill"),
        (annotated(5), "no JSON can fill"),
        (annotated("Nowhere"), "no JSON can fill"),
        (annotated("not python"), "no JSON can fill"),
        (len, "cannot be given by name"),
        (lambda: 1, "use a named function"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_function_that_no_model_can_call_is_refused(function: Any, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told) as raised:
        FunctionTool(function)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "item",
    [5, None, object(), ["a"], b"a", dict, functools.partial(print), Address],
    ids=lambda item: type(item).__name__,
)
def test_what_is_no_tool_is_refused_and_the_cure_is_told(item: object) -> None:
    with pytest.raises(ConfigurationError, match=r"is not a tool\. Give a named function"):
        as_tool(item, "functions")


# --- calls


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({}, ("one: Missing required argument",)),
        ({"one": "x"}, ("one: Input should be a valid integer",)),
        ({"one": 1, "two": 2}, ("two: Unexpected keyword argument",)),
    ],
)
def test_arguments_that_do_not_fit_are_refused_before_the_function_runs(
    arguments: dict[str, Any], told: tuple[str, ...]
) -> None:
    ran: list[int] = []

    def note(one: int) -> None:
        ran.append(one)

    with pytest.raises(InvalidArgumentsError, match="'note'") as raised:
        run(FunctionTool(note), **arguments)
    assert all(p.startswith(t) for p, t in zip(raised.value.problems, told, strict=True))
    assert ran == []


def test_at_most_five_complaints_are_told() -> None:
    def wide(*, a: int, b: int, c: int, d: int, e: int, f: int) -> None: ...

    with pytest.raises(InvalidArgumentsError) as raised:
        run(FunctionTool(wide))
    assert len(raised.value.problems) == 5


def test_a_validation_error_of_the_functions_own_goes_through() -> None:
    def parse(text: str) -> None:
        TypeAdapter(int).validate_python(text)

    with pytest.raises(ValidationError):
        run(FunctionTool(parse), text="x")


def test_whatever_a_function_raises_goes_through_unchanged() -> None:
    error = LookupError("no such row")

    def find() -> None:
        raise error

    async def afind() -> None:
        raise error

    for function in (find, afind):
        with pytest.raises(LookupError) as raised:
            run(FunctionTool(function))
        assert raised.value is error


def test_a_plain_function_runs_in_a_thread_and_a_coroutine_in_the_loop() -> None:
    def plain() -> int:
        return threading.get_ident()

    async def coroutine() -> int:
        return threading.get_ident()

    assert run(FunctionTool(plain)).text != str(threading.get_ident())
    assert run(FunctionTool(coroutine)).text == str(threading.get_ident())


def test_a_plain_function_around_a_coroutine_is_awaited() -> None:
    async def inner(value: int) -> int:
        return value + 1

    @functools.wraps(inner)
    def outer(*args: Any, **kwargs: Any) -> Any:
        return inner(*args, **kwargs)

    assert run(FunctionTool(outer), value=1).text == "2"


def plain_user() -> str:
    """Say who calls."""
    return USER.get()


async def async_user() -> str:
    """Say who calls."""
    return USER.get()


@pytest.mark.parametrize("function", [plain_user, async_user])
def test_context_variables_of_the_caller_are_seen(function: Callable[[], Any]) -> None:
    name = function.__name__
    with Toolset.from_sources(function) as toolset:
        session = toolset.search(Session(caller=Caller.root()), {"names": [name]}).session
        USER.set("eve")
        assert toolset.call(session, name, {}).text == "eve"

        async def elsewhere() -> str:
            USER.set("ada")
            return (await toolset.acall(session, name, {})).text

        assert anyio.run(elsewhere) == "ada"


# --- results


class Weather(BaseModel):
    city: str
    day: date


@pytest.mark.parametrize(
    ("value", "text", "structured"),
    [
        ("as it is", "as it is", None),
        ("", "", None),
        (None, "null", None),
        (3, "3", None),
        (True, "true", None),
        ([1, {"a": 2}], '[1,{"a":2}]', None),
        ({"a": date(2026, 1, 2)}, '{"a":"2026-01-02"}', {"a": "2026-01-02"}),
        (
            Weather(city="Köln", day=date(2026, 1, 2)),
            '{"city":"Köln","day":"2026-01-02"}',
            {"city": "Köln", "day": "2026-01-02"},
        ),
        ([Weather(city="x", day=date(2026, 1, 2))], '[{"city":"x","day":"2026-01-02"}]', None),
        (Point(1, 2), '{"x":1,"y":2}', None),
        (Colour.RED, '"red"', None),
        ({1}, "[1]", None),
    ],
    ids=repr,
)
def test_a_result_is_text_as_it_is_and_json_else(value: Any, text: str, structured: Any) -> None:
    result = as_result(value)
    assert result.text == text
    assert result.structured == structured
    assert not result.is_error


def test_a_result_that_no_json_can_hold_is_its_text() -> None:
    class Odd:
        def __str__(self) -> str:
            return "an odd thing"

    assert as_result(Odd()).text == "an odd thing"
    assert as_result({"a": Odd()}).structured is None
    assert as_result(b"\xff\xfe").text == "b'\\xff\\xfe'"
    circle: list[object] = []
    circle.append(circle)
    assert as_result(circle).text == "[[...]]"
    assert as_result("half \ud800").text == "half \ud800"
    assert as_result({"a": "half \ud800"}).text


def test_a_result_of_ours_is_left_as_it_is() -> None:
    result = ToolResult(is_error=True)
    assert as_result(result) is result


# --- factories, import strings, other objects


def clock() -> str:
    """Tell the time."""
    return "noon"


def test_items_are_tools_in_their_order() -> None:
    scripted = ScriptedTool("scripted")
    state = made(scripted, clock, Lazy(lambda: plain_user), f"{__name__}:async_user")
    assert state.status is SourceStatus.READY
    assert [tool.spec.tool for tool in state.tools] == [
        "scripted", "clock", "plain_user", "async_user",
    ]  # fmt: skip
    assert state.tools[0] is scripted


def test_a_factory_may_give_whatever_is_a_tool() -> None:
    state = made(Lazy(lambda: Lazy(lambda: f"{__name__}:clock")))
    assert state.tools[0].spec.tool == "clock"


def test_a_factory_runs_at_the_first_use_and_not_before() -> None:
    ran: list[str] = []

    def factory() -> object:
        ran.append("once")
        return clock

    toolset = Toolset.from_sources(Lazy(factory))
    catalog = toolset.catalog(Caller.root())
    assert ran == []
    with toolset:
        assert [summary.name for summary in catalog.all()] == ["clock"]
        toolset.prompt(Caller.root())
        assert ran == ["once"]


def test_a_broken_factory_is_named_and_tried_again_at_the_next_use() -> None:
    attempts: list[int] = []

    def open_database() -> object:
        attempts.append(1)
        if len(attempts) == 1:
            raise OSError("no route")
        return clock

    toolset = Toolset.from_sources(Lazy(open_database))
    with pytest.raises(ConfigurationError, match=r"open_database.* failed: OSError: no route"):
        toolset.prompt(Caller.root())
    with toolset:
        assert '<tool name="clock">' in toolset.prompt(Caller.root())
    assert len(attempts) == 2


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    name = "deferred_tools_test_module"
    (tmp_path / f"{name}.py").write_text(
        "class Tools:\n    @staticmethod\n    def clock() -> str: ...\n\nfive = 5\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield name
    sys.modules.pop(name, None)


def test_a_module_that_fails_while_it_is_imported_is_told(module: str, tmp_path: Path) -> None:
    (tmp_path / f"{module}.py").write_text("1 / 0\n")
    with pytest.raises(ConfigurationError, match="cannot be imported: ZeroDivisionError"):
        as_tool(f"{module}:clock", "functions")


def test_an_import_string_is_imported_at_the_first_use(module: str) -> None:
    toolset = Toolset.from_sources(f"{module}:Tools.clock")
    assert module not in sys.modules
    with toolset:
        assert toolset.registry.names() == ("clock",)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("no.colon", "not of the form 'package.module:attr'"),
        (":attr", "not of the form"),
        ("module:", "not of the form"),
        ("no_such_module:attr", "cannot be imported: ModuleNotFoundError: No module named"),
        ("{module}:none", "cannot be imported: AttributeError: module .* has no attribute 'none'"),
        ("{module}:Tools.none", "has no attribute 'none'"),
        ("{module}:five", "5 is not a tool"),
        ("..relative:attr", "cannot be imported"),
    ],
)
def test_an_import_string_that_leads_nowhere_is_told(module: str, path: str, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        as_tool(path.format(module=module), "functions")
