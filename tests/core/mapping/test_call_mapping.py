"""Mappings in CEL: what they see and give, what they refuse, and what errors may tell."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.limits import Limits
from deferred_tools.mapping import CallMapping, MappingError
from deferred_tools.sources.base import ToolResult

LIMITS = Limits()
CONTEXT = {
    "instance": "eu-1",
    "run": "r7",
    "caller": {"kind": "root", "name": "ada", "roles": ["admin"], "agent": None},
}
CANARY = "sk_live_9f27c1aa"
KEYS = st.text(st.characters(codec="utf-8"), max_size=8)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)


def mapped(args: str, arguments: dict[str, Any], limits: Limits = LIMITS) -> dict[str, Any]:
    return CallMapping.compile(args, None, limits).map_args(arguments, CONTEXT)


def value_of(expression: str, **arguments: Any) -> Any:
    return mapped(f'{{"value": {expression}}}', arguments)["value"]


def output(expression: str | None, result: ToolResult) -> Any:
    return CallMapping.compile(None, expression, LIMITS).map_result(result)


def structured(value: Any) -> ToolResult:
    return ToolResult(structured=value)


def text(value: str) -> ToolResult:
    return ToolResult(content=({"type": "text", "text": value},))


def refusal(args: str) -> str:
    with pytest.raises(MappingError) as caught:
        CallMapping.compile(args, None, LIMITS)
    return str(caught.value)


def failure(args: str, arguments: dict[str, Any], limits: Limits = LIMITS) -> str:
    with pytest.raises(MappingError) as caught:
        mapped(args, arguments, limits)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    return str(caught.value)


# --- what a mapping gives


def test_arguments_are_built_from_args_and_ctx() -> None:
    expression = '{"to": args.recipient, "as": ctx.caller.name, "at": ctx.instance + "/" + ctx.run}'
    assert mapped(expression, {"recipient": "bob"}) == {"to": "bob", "as": "ada", "at": "eu-1/r7"}


def test_without_an_expression_arguments_are_copied_unchanged() -> None:
    arguments = {"a": 10**400, "b": [1]}
    given_on = CallMapping.compile(None, None, LIMITS).map_args(arguments, CONTEXT)
    assert given_on == arguments
    assert given_on is not arguments


def test_an_output_is_built_from_the_result() -> None:
    result = structured({"items": [{"id": 1, "x": 0}, {"id": 2, "x": 9}]})
    expression = '{"ids": result.structuredContent.items.filter(i, i.x > 0).map(i, i.id)}'
    assert output(expression, result) == {"ids": [2]}


def test_a_result_is_seen_as_mcp_sends_it() -> None:
    result = ToolResult(
        content=({"type": "text", "text": "hello"},), is_error=True, meta={"page": 2}
    )
    assert output("result.content[0].text", result) == "hello"
    assert output("result.isError", result) is True
    assert output("result._meta.page", result) == 2
    assert output("has(result.structuredContent)", result) is False
    assert output("has(result._meta)", text("x")) is False


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        (ToolResult(structured={"a": 1}, content=({"type": "text", "text": "2"},)), {"a": 1}),
        (structured([]), []),
        (text('{"a": [1, null]}'), {"a": [1, None]}),
        (text("plain words"), "plain words"),
        (text(""), ""),
        (text("NaN"), "NaN"),
        (text("[" * 100_000), "[" * 100_000),
        (text("[" * 200 + "]" * 200), "[" * 200 + "]" * 200),
        (text("1" * 5000), "1" * 5000),
    ],
)
def test_without_an_expression_it_is_structured_content_else_json_else_text(
    result: ToolResult, expected: Any
) -> None:
    assert output(None, result) == expected


@given(st.dictionaries(KEYS, JSON, max_size=5))
def test_arguments_go_through_unchanged_with_their_types(arguments: dict[str, Any]) -> None:
    given_on = mapped("args", arguments)
    assert json.dumps(given_on, sort_keys=True) == json.dumps(arguments, sort_keys=True)


def test_keys_come_in_the_same_order_every_time() -> None:
    names = [f"k{number:03}" for number in range(50)]
    assert list(mapped("args", dict.fromkeys(reversed(names), 1))) == names


def test_one_mapping_serves_several_threads() -> None:
    mapping = CallMapping.compile('{"v": args.l.map(x, x + args.n)}', None, LIMITS)

    def run(number: int) -> Any:
        return mapping.map_args({"l": list(range(20)), "n": number}, CONTEXT)["v"]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(run, range(200))) == [
            [item + number for item in range(20)] for number in range(200)
        ]


# --- what the library is relied on for


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("args.big", 2**53 + 1),
        ("args.unsigned", 2**64 - 1),
        ("args.zero", -0.0),
        ("args.whole", 1.0),
        ("args.whole == 1 && args.big > 1.5", True),
        ("type(args.big) == int && type(args.whole) == double", True),
        ("args.name + '!'", "é😀!"),
        ("size(args.name)", 6),  # bytes, not characters
        ("has(args.gone) ? args.gone : 'none'", "none"),
        ("args.list.exists_one(x, x == 2)", True),
        ("args.list.map(x, x > 1, x * 2)", [4]),
        ("args.list.map(args, args)", [1, 2]),
        ("[1, 2].map(x, [10, 20].map(y, x + y))", [[11, 21], [12, 22]]),
        ("args['odd key']", 1),
        ("optional.of(1).orValue(2)", 1),
        ("string(duration('90s')) == '' || true", True),
        ("timestamp('2024-02-29T00:00:00Z').getDayOfMonth()", 28),
        ("args.name.matches('^.(😀)$') // a comment", True),
        ('r"\\d" + "\\u00e9"', "\\dé"),
    ],
)
def test_the_library_computes(expression: str, expected: Any) -> None:
    arguments = {"big": 2**53 + 1, "unsigned": 2**64 - 1, "zero": -0.0, "whole": 1.0}
    others = {"name": "é😀", "list": [1, 2], "odd key": 1}
    found = mapped(f'{{"value": {expression}\n}}', {**arguments, **others})["value"]
    assert repr(found) == repr(expected)


@pytest.mark.parametrize(
    ("expression", "complaint"),
    [
        ("b'abc'", "type 'bytes'"),
        ("timestamp('2024-01-01T00:00:00Z')", "type 'datetime'"),
        ("duration('1h')", "type 'timedelta'"),
        ("optional.of(1)", "type 'OptionalValue'"),
        ("[optional.none()]", "type 'OptionalValue'"),
        ("0.0 / 0.0", "not finite"),
        ("double('1e400')", "not finite"),
        ("{1: 2}", "a key that is no text"),
        ("{true: 2}", "a key that is no text"),
    ],
)
def test_what_is_not_json_is_not_given_on(expression: str, complaint: str) -> None:
    message = failure(f'{{"value": {expression}}}', {})
    assert "it gives a" in message
    assert complaint in message


@pytest.mark.parametrize("expression", ["1", "'text'", "[args]", "null", "args.map(k, k)"])
def test_arguments_must_be_an_object(expression: str) -> None:
    assert "it must give an object, not" in failure(expression, {"a": 1})


@pytest.mark.parametrize(
    ("value", "complaint"),
    [
        (2**64, "beyond 64 bits"),
        (-(2**63) - 1, "beyond 64 bits"),
        (10**400, "beyond 64 bits"),
        (float("nan"), "not finite"),
        ("\ud800", "half a surrogate pair"),
        ({"\ud800": 1}, "half a surrogate pair"),
        (b"x", "type 'bytes'"),
        ({1: 2}, "a key that is no text"),
    ],
)
def test_what_cel_cannot_hold_exactly_is_refused(value: Any, complaint: str) -> None:
    assert complaint in failure("args", {"a": value})


# --- what does not compile


@pytest.mark.parametrize(
    ("expression", "complaint"),
    [
        ("", "line 1, column 1: Syntax error"),
        ("1 +", "line 1, column 4: Syntax error"),
        ("user.name", "there is no variable 'user', only args, ctx"),
        ("result.x", "there is no variable 'result'"),
        ("[1].map(x, x) + x", "there is no variable 'x'"),
        ("[1].map(x, [2].map(y, z))", "there is no variable 'z', only args, ctx, x, y"),
        (".args", "nothing can begin, and no number end, with a dot"),
        ("1 in .args", "nothing can begin, and no number end, with a dot"),
        ("now()", "there is no function 'now'"),
        ("args.name.format([1])", "there is no function 'format'"),
        ("args.map(x)", "there is no function 'map'"),
        ("math.greatest(1, 2)", "there is no variable 'math'"),
        ("Foo{a: 1}", "message type"),
        ("'a'.matches(args.pattern)", "pattern of `matches` must be a text"),
        ("'a'.matches('a' + args.pattern)", "pattern of `matches` must be a text"),
        ("9223372036854775808", "invalid int literal"),
        ("'\ud800'", "half a surrogate pair"),
        ("[1].map(a, [1].map(b, [1].map(c, [1].map(d, 1))))", "nested deeper than 3"),
        ("'" + "x" * 5000 + "'", "longer than 4000 characters"),
        ("1" + "+1" * 1000, "more than 1000 tokens"),
        ("(" * 25 + "1" + ")" * 25, "24 nested brackets"),
    ],
)
def test_an_expression_that_cannot_work_does_not_compile(expression: str, complaint: str) -> None:
    message = refusal(expression)
    assert "does not compile" in message
    assert complaint in message
    assert len(message) < 1000


def test_a_result_expression_sees_only_the_result() -> None:
    with pytest.raises(MappingError, match="there is no variable 'args', only result"):
        CallMapping.compile(None, "args.x", LIMITS)


@given(
    st.text(max_size=40)
    | st.lists(
        st.sampled_from(
            [
                *"()[]{}.,:?!-+'\"\\ \n",
                "args",
                "x",
                "map(",
                "filter(x,",
                "1",
                "in",
                "r'",
                "//",
                '"""',
            ]
        )
    ).map("".join)
)
def test_no_text_raises_anything_but_a_mapping_error(expression: str) -> None:
    try:
        CallMapping.compile(expression, expression, LIMITS)
    except MappingError as error:
        assert "does not compile" in str(error)  # noqa: PT017 - that it compiles is fine too


def test_a_deep_expression_does_not_end_the_process() -> None:
    code = """
import threading
from deferred_tools.limits import Limits
from deferred_tools.mapping import CallMapping, MappingError
deep = [
    "(" * 10_000 + "1" + ")" * 10_000,
    "[" * 10_000,
    "-" * 10_000 + "1",
    "1" + "+1" * 499,
    "args" + ".a" * 499,
    "args" + "[0]" * 330,
    "size(" * 24 + "1" + ")" * 24,
    "[" * 24 + "1" + "]" * 24,
    "true ? 1 : " * 249 + "1",
    "[1]" + ".map(x, x)" * 90,
]
def run():
    for expression in deep:
        try:
            CallMapping.compile(expression, None, Limits()).map_args({}, {})
        except MappingError:
            print("refused")
threading.stack_size(512 * 1024)
thread = threading.Thread(target=run)
thread.start()
thread.join()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "refused\n" * 10, "")


def test_without_the_extra_the_error_names_it() -> None:
    code = """
import sys
sys.modules["cel"] = None
from deferred_tools.limits import Limits
from deferred_tools.mapping import CallMapping, MappingError
CallMapping.compile(None, None, Limits())
try:
    CallMapping.compile("args", None, Limits())
except MappingError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install "deferred-tools[cel]"' in done.stdout


# --- what an error may tell


@pytest.mark.parametrize(
    "expression",
    [
        "args.gone",
        "args[args.secret]",
        "args.secret + 1",
        "args.secret.nothing",
        "args.list[9]",
        "int(args.secret)",
        "timestamp(args.secret)",
        "duration(args.secret)",
        "args.number + 9223372036854775807",
        "args.number / 0",
        "{args.secret: b'x'}",
        "{args.secret: 1}[args.list[0]]",
        "args.secret",
        "[args.secret]",
        "args.list.map(x, x.y)",
    ],
)
def test_no_value_is_in_an_error(expression: str) -> None:
    arguments = {"secret": CANARY, "list": [CANARY], "number": 9223372036854775123, CANARY: 1}
    message = failure(expression, arguments)
    assert CANARY not in message
    assert "9223372036854775123" not in message
    assert "{secret: text, list: [1 x text], number: number, 1 more}" in message
    assert repr(expression) in message


@given(st.dictionaries(KEYS, JSON, max_size=5), st.sampled_from(["args.q.q", "int(args)", "1"]))
def test_an_error_is_short_and_has_no_values(arguments: dict[str, Any], expression: str) -> None:
    message = failure(expression, {**arguments, "secret": {"deep": [CANARY]}})
    assert CANARY not in message
    assert len(message) < 1000


# --- what is too much


def test_the_bound_is_the_hosts_to_raise() -> None:
    arguments = {"l": list(range(300))}
    tight = Limits(validation_steps=100)
    assert "more than 1000 steps" in failure("{'v': args.l.map(x, x)}", arguments, tight)
    assert mapped("{'v': args.l.map(x, x)}", arguments)["v"] == arguments["l"]


def test_too_much_is_refused_on_both_sides() -> None:
    small = Limits(arguments_bytes=1000)
    assert "that is too much" in failure("args", {"a": "x" * 1001}, small)
    assert "what it gives is too much" in failure(
        "{'v': [args, args, args]}", {"a": "x" * 500}, small
    )
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    assert "nested deeper" in failure("args", {"a": deep})
