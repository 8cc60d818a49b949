"""What a model meant: texts with one reading are read, blanks dropped, nothing else is touched."""

import copy
import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.limits import Limits
from deferred_tools.validation import CompiledSchema, Fitted, SchemaError


def fit(schema: dict[str, Any], value: Any, **bounds: Any) -> Fitted:
    return CompiledSchema(schema, Limits(**bounds)).fit(value)


def one(schema: Any, value: Any) -> Fitted:
    """`value` as the optional property `a`."""
    return fit({"properties": {"a": schema}}, {"a": value})


def test_the_arguments_of_bug_report_b30_are_read_where_that_is_clear() -> None:
    schema = {
        "type": "object",
        "properties": {
            "depth": {"type": "integer"},
            "tags": {"type": "array"},
            "opts": {"type": "object"},
            "note": {"type": "string"},
            "zip": {"type": "string"},
            "flag": {"type": "boolean"},
            "n": {"type": "integer"},
        },
        "additionalProperties": False,
    }
    given = {
        "depth": "3",
        "tags": '["a"]',
        "opts": '{"k":1}',
        "note": "[draft]",
        "zip": "01234",
        "flag": "false",
    }
    assert fit(schema, given) == Fitted(
        {
            "depth": 3,
            "tags": ["a"],
            "opts": {"k": 1},
            "note": "[draft]",
            "zip": "01234",
            "flag": False,
        },
        (
            "depth: text read as an integer",
            "tags: text read as an array",
            "opts: text read as an object",
            "flag: text read as a boolean",
        ),
    )
    refused = fit(schema, {**given, "n": "1e3"})
    assert refused.problems == ("n: expected an integer, not a string",)
    assert (refused.value, refused.notes) == ({**given, "n": "1e3"}, ())
    extra = fit(schema, {**given, "dept": None})
    assert extra.problems == ("unknown argument 'dept'; known and not given: 'n'",)


# --- texts


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("integer", "0", 0),
        ("integer", "-12", -12),
        ("integer", "12345678901234567890123", 12345678901234567890123),
        ("number", "3", 3),
        ("number", "0.1", 0.1),
        ("number", "1e3", 1000.0),
        ("number", "-2.50E-1", -0.25),
        ("boolean", "true", True),
        ("boolean", "false", False),
        ("null", "null", None),
        ("array", "[]", []),
        ("array", ' [1, "01", null]\n', [1, "01", None]),
        ("object", '{"a": {"b": [1.5]}}', {"a": {"b": [1.5]}}),
    ],
)
def test_a_text_is_read_where_the_schema_wants_what_it_says(
    kind: str, text: str, value: Any
) -> None:
    fitted = one({"type": kind}, text)
    assert repr(fitted.value) == repr({"a": value})
    assert (len(fitted.notes), fitted.problems) == (1, ())


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("integer", "1e3"),
        ("integer", "3.0"),
        ("integer", "+3"),
        ("integer", "03"),
        ("integer", " 3"),
        ("integer", "3\n"),
        ("integer", "٣"),
        ("integer", "1_000"),
        ("integer", "0x10"),
        ("integer", "true"),
        ("integer", "9" * 5_000),
        ("number", "1e400"),
        ("number", "1e-400"),
        ("number", "1e99999999999999999999"),
        ("number", "0.12345678901234567890123"),
        ("number", "NaN"),
        ("number", "-Infinity"),
        ("number", ".5"),
        ("number", "1,5"),
        ("boolean", "True"),
        ("boolean", "yes"),
        ("boolean", "1"),
        ("boolean", "0"),
        ("null", "None"),
        ("array", "a,b"),
        ("array", "['a']"),
        ("array", "[1,]"),
        ("array", "[NaN]"),
        ("array", "[0.12345678901234567890123]"),
        ("array", "[draft]"),
        ("array", '{"a": 1}'),
        ("array", '"[]"'),
        ("object", "[]"),
        ("object", '{"a": 1, "a": 2}'),
        ("object", "{} {}"),
        ("object", ""),
    ],
)
def test_a_text_that_says_something_else_or_would_lose_something_is_not_read(
    kind: str, text: str
) -> None:
    value = {"a": text}
    fitted = fit({"properties": {"a": {"type": kind}}, "required": ["a"]}, value)
    assert fitted.value is value
    assert fitted.notes == ()
    (problem,) = fitted.problems
    assert problem.startswith("a: expected ")


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "string"},
        {"type": ["integer", "string"]},
        {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        {"enum": [3, "3"]},
        {"description": "an integer"},
    ],
    ids=str,
)
def test_a_text_stays_where_the_schema_accepts_text(schema: dict[str, Any]) -> None:
    value = {"a": "3"}
    fitted = fit({"properties": {"a": schema}}, value)
    assert fitted == Fitted(value)
    assert fitted.value is value


INTEGER: dict[str, Any] = {"type": "integer"}


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/$defs/i"},
        {"allOf": [{"$ref": "#/$defs/i"}, {"maximum": 9}]},
        {"anyOf": [INTEGER, {"type": "null"}]},
        {"anyOf": [INTEGER, {"type": "array", "items": {"type": "string"}}]},
        {"oneOf": [{"anyOf": [INTEGER, {"type": "null"}]}, {"type": "object"}]},
        {"anyOf": [INTEGER, {"const": True}, {"enum": [1.5, None]}]},
        {"anyOf": [INTEGER, {"anyOf": [{"type": "boolean", "pattern": "^x"}]}]},
        {"type": ["integer", "null"]},
        {"type": ["integer", "number", "boolean"]},
        {"enum": [1, 2, 3, None]},
        {"const": 3},
        {"type": "integer", "enum": [2, 3]},
        {"if": {"type": "string"}, "then": False, "else": INTEGER, "type": "integer"},
    ],
    ids=str,
)
def test_the_one_reading_is_found_however_the_schema_says_it(schema: dict[str, Any]) -> None:
    fitted = fit({"$defs": {"i": INTEGER}, "properties": {"a": schema}}, {"a": "3"})
    assert fitted == Fitted({"a": 3}, ("a: text read as an integer",))


@pytest.mark.parametrize(
    "schema",
    [
        {"enum": ["auto", 3]},
        {"anyOf": [INTEGER, {"enum": ["auto"]}]},
        {"anyOf": [INTEGER, {"const": "auto"}]},
        {"anyOf": [INTEGER, {"type": "string", "pattern": "^[0-9]{5}$"}]},
        {"oneOf": [INTEGER, {"type": "number"}]},
        {"type": "integer", "maximum": 2},
        {"enum": [1, 2]},
        {"enum": [True, [3], {"a": 3}]},
        {"not": {"type": "string"}},
    ],
    ids=str,
)
def test_a_text_is_not_read_where_other_text_or_nothing_else_would_do(
    schema: dict[str, Any],
) -> None:
    value = {"a": "3"}
    fitted = fit({"properties": {"a": schema}}, value)
    assert fitted.value is value
    assert len(fitted.problems) == 1


@pytest.mark.parametrize(
    ("schema", "value", "wanted"),
    [
        ({"properties": {"b": {"items": INTEGER}}}, {"b": ["1", 2]}, {"b": [1, 2]}),
        ({"prefixItems": [INTEGER, {"type": "string"}]}, ["1", "2"], [1, "2"]),
        ({"additionalProperties": INTEGER}, {"x": "1", "y": "2"}, {"x": 1, "y": 2}),
        ({"patternProperties": {"^x": INTEGER}}, {"x": "1", "y": "2"}, {"x": 1, "y": "2"}),
        ({"type": "array", "items": INTEGER}, '["1", "2"]', [1, 2]),
        (
            {"type": "object", "properties": {"b": {"type": "array", "items": INTEGER}}},
            '{"b": "[\\"1\\"]"}',
            {"b": [1]},
        ),
    ],
)
def test_texts_are_read_within_lists_objects_and_other_texts(
    schema: dict[str, Any], value: Any, wanted: Any
) -> None:
    assert one(schema, value).value == {"a": wanted}


def tagged(kind: str, n: Any) -> dict[str, Any]:
    return {"properties": {"kind": {"const": kind}, "n": n}, "required": ["kind"]}


def test_the_alternative_that_a_tag_names_is_the_one_that_counts() -> None:
    schema = {"oneOf": [tagged("a", INTEGER), tagged("b", {"type": "string", "minLength": 2})]}
    assert one(schema, {"kind": "a", "n": "3"}).value == {"a": {"kind": "a", "n": 3}}
    assert one(schema, {"kind": "b", "n": "3"}).problems == ("a.n: expected at least 2 characters",)


def test_alternatives_that_would_each_take_another_reading_leave_the_value_alone() -> None:
    first = {"properties": {"x": INTEGER, "y": {"type": "string"}}}
    second = {"properties": {"x": {"type": "string"}, "y": {"type": "boolean"}}, "required": ["z"]}
    either = {"anyOf": [first, {**second, "required": ["y"]}]}
    # Text in `x` and `y`: a number and a text, or a text and a boolean.
    value = {"x": "1", "y": "true"}
    assert fit(either, value).value is value
    assert fit(either, value).problems
    # Only the first can be meant where the second lacks something.
    assert fit({"anyOf": [first, second]}, value).value == {"x": 1, "y": "true"}


def test_alternatives_that_take_other_text_at_the_same_place_leave_the_value_alone() -> None:
    code = {"properties": {"n": {"type": "string", "pattern": "^[0-9]{5}$"}}}
    value = {"n": "123"}
    assert fit({"anyOf": [{"properties": {"n": INTEGER}}, code]}, value).value is value
    lists = {"properties": {"n": {"type": "array"}}}
    assert fit({"anyOf": [{"properties": {"n": INTEGER}}, lists]}, value).value == {"n": 123}


# --- blanks


@pytest.mark.parametrize("blank", [None, ""])
@pytest.mark.parametrize(
    ("schema", "must"),
    [
        ({"type": "array"}, "an array"),
        ({"type": ["array", "object"]}, "an array or an object"),
        ({"anyOf": [INTEGER, {"type": "boolean"}]}, "an integer or a boolean"),
        ({"enum": ["x", "y"]}, 'one of "x", "y"'),
        ({"$ref": "#/$defs/i"}, "an integer"),
    ],
)
def test_an_optional_property_that_is_blank_and_may_not_be_is_dropped(
    schema: dict[str, Any], must: str, blank: Any
) -> None:
    whole = {"$defs": {"i": INTEGER}, "properties": {"cc": schema, "b": {}}}
    what = "null" if blank is None else "empty text"
    assert fit(whole, {"cc": blank, "b": blank}) == Fitted(
        {"b": blank}, (f"cc: {what} dropped, as it is optional and must be {must}",)
    )


def test_a_blank_is_kept_where_the_schema_accepts_it() -> None:
    schema = {"properties": {"a": {"type": ["integer", "null"]}, "b": {"type": "string"}}}
    assert fit(schema, {"a": None, "b": ""}) == Fitted({"a": None, "b": ""})
    assert fit(schema, {"a": "", "b": None}).value == {}


@pytest.mark.parametrize(
    "schema",
    [
        {"required": ["a"]},
        {"minProperties": 1},
        {"dependentRequired": {"b": ["a"]}},
        {"anyOf": [{"required": ["a"]}, {"required": ["c"]}]},
    ],
    ids=str,
)
def test_a_blank_is_kept_where_the_property_is_required(schema: dict[str, Any]) -> None:
    value = {"a": None} if "minProperties" in schema else {"a": None, "b": 1}
    fitted = fit({"properties": {"a": INTEGER}, **schema}, value)
    assert fitted.value is value
    assert fitted.problems == ("a: expected an integer, not null",)


def test_blanks_are_dropped_at_any_depth_and_within_alternatives() -> None:
    part = {"type": "object", "properties": {"x": INTEGER, "additionalProperties": INTEGER}}
    schema = {
        "properties": {
            "some": {"type": "array", "items": part},
            "one": {"anyOf": [{"$ref": "#/$defs/part"}, {"type": "null"}]},
        },
        "$defs": {"part": part},
    }
    value = {"some": [{"x": None}, {"x": "1"}], "one": {"x": 2, "additionalProperties": ""}}
    assert fit(schema, value).value == {"some": [{}, {"x": 1}], "one": {"x": 2}}


@pytest.mark.parametrize(
    "schema",
    [
        {"items": INTEGER},
        {"additionalProperties": INTEGER},
        {"patternProperties": {".": INTEGER}},
        {"properties": {"b": {}}, "additionalProperties": False},
        {"properties": {"additionalProperties": {}}, "additionalProperties": INTEGER},
        {"patternProperties": {"properties": INTEGER}},
    ],
    ids=str,
)
def test_blanks_that_are_no_named_property_are_content_and_stay(schema: dict[str, Any]) -> None:
    value: Any = [None] if "items" in schema else {"properties": None}
    assert one(schema, value).value == {"a": value}
    assert one(schema, value).problems


# --- guarantees


def test_the_value_given_is_never_changed() -> None:
    shared = {"n": ["1"]}
    numbers = {"properties": {"n": {"items": INTEGER}}}
    schema = {"properties": {"a": numbers, "b": {}, "c": {"type": "array"}}}
    value = {"a": shared, "b": shared, "c": None}
    before = copy.deepcopy(value)
    assert fit(schema, value).value == {"a": {"n": [1]}, "b": {"n": ["1"]}}
    assert value == before


def test_no_value_is_told_in_notes_or_problems() -> None:
    schema = {"properties": {"a": INTEGER, "b": {"type": "array"}, "c": {"pattern": "^x"}}}
    fitted = fit(schema, {"a": "4711", "b": '["hunter2"]'})
    refused = fit(schema, {"a": "hunter2", "b": '{"x": "hunter2"}', "c": "hunter2"})
    assert fitted.notes
    assert len(refused.problems) == 3
    assert not any("4711" in t or "hunter2" in t for t in (*fitted.notes, *refused.problems))


def test_what_is_no_number_is_not_taken_for_null() -> None:
    fitted = one({"type": "array"}, float("nan"))
    assert "a" in fitted.value
    assert fitted.problems


def test_half_a_surrogate_pair_stays_what_it_is() -> None:
    schema = {"properties": {"a": INTEGER, "b": {"type": "string"}}}
    assert fit(schema, {"a": "1", "b": "\ud800"}).value == {"a": 1, "b": "\ud800"}
    assert one({"type": "array"}, '["\ud800"]').problems


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "[" * 500 + "]" * 500, '{"a":' * 100_000, "[" + "1," * 500_000 + "1]"],
    ids=["open", "deep", "deep object", "long"],
)
def test_texts_that_are_too_deep_or_too_large_are_refused_in_time(text: str) -> None:
    schema = {"properties": {"a": {"type": "array", "items": INTEGER}}}
    started = time.monotonic()
    fitted = fit(schema, {"a": text})
    assert fitted.value == {"a": text}
    assert len(fitted.problems) == 1
    assert time.monotonic() - started < 5


@pytest.mark.parametrize(("depth", "fits"), [(1, True), (4, True), (9, False)])
def test_texts_within_texts_are_read_but_not_for_ever(depth: int, fits: bool) -> None:
    schema = INTEGER
    value: Any = "1"
    wanted: Any = 1
    for _ in range(depth - 1):
        schema = {"type": "array", "items": schema}
        value, wanted = json.dumps([value]), [wanted]
    fitted = one(schema, value)
    assert fitted.value == {"a": wanted if fits else value}
    assert bool(fitted.problems) == (not fits)


def test_many_alternatives_within_alternatives_end_in_time() -> None:
    schema: dict[str, Any] = INTEGER
    for _ in range(9):
        schema = {"anyOf": [schema, schema, {"type": "null"}]}
    started = time.monotonic()
    fitted = one(schema, "3")
    assert fitted.value == {"a": "3"}
    assert fitted.problems
    assert time.monotonic() - started < 5


KINDS = st.sampled_from(["object", "array", "string", "integer", "number", "null", "boolean"])
TEXTS = st.sampled_from(["", "1", "2.5", "true", "null", "[1]", '["1", ""]', '{"a": "1"}', "x"])
SCALARS = st.none() | st.booleans() | st.integers(0, 3) | TEXTS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=8,
)


def several(key: str, inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.builds(lambda some: {key: some}, st.lists(inner, min_size=1, max_size=3))


SCHEMAS: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.builds(lambda kind: {"type": kind}, KINDS)
    | st.builds(lambda kinds: {"type": kinds}, st.lists(KINDS, min_size=1, max_size=3, unique=True))
    | st.builds(lambda some: {"enum": some}, st.lists(SCALARS, min_size=1, max_size=3))
    | st.builds(lambda value: {"const": value}, SCALARS)
    | st.sampled_from([{}, {"$ref": "#/$defs/d"}, {"minLength": 2}, {"minimum": 2}]),
    lambda inner: (
        several("anyOf", inner)
        | several("oneOf", inner)
        | several("allOf", inner)
        | st.builds(lambda one: {"type": "array", "items": one}, inner)
        | st.builds(lambda one: {"not": one}, inner)
        | st.builds(lambda one: {"additionalProperties": one}, inner)
        | st.builds(
            lambda some, required: {"properties": some, "required": required},
            st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
            st.lists(st.sampled_from("abc"), max_size=1),
        )
    ),
    max_leaves=6,
)
DEFS = {"d": {"properties": {"a": {"type": "integer"}}, "type": "object"}}


def same(one: Any, other: Any) -> bool:
    return json.dumps(one) == json.dumps(other)


def read_or_dropped(before: Any, after: Any) -> bool:
    """Whether `after` is `before` but for texts read and blank properties dropped."""
    if same(before, after):
        return True
    if isinstance(before, str):
        return read_or_dropped(json.loads(before), after)
    if isinstance(before, list):
        pairs = zip(before, after, strict=True)
        return all(read_or_dropped(*pair) for pair in pairs)
    kept = [name for name in before if name in after]
    return (
        list(after) == kept
        and all(read_or_dropped(before[name], after[name]) for name in kept)
        and all(before[name] in (None, "") for name in before if name not in after)
    )


@given(SCHEMAS, VALUES)
def test_a_value_is_left_as_it_is_or_read_until_it_fits(schema: dict[str, Any], value: Any) -> None:
    compiled = CompiledSchema({**schema, "$defs": DEFS}, Limits())
    before = copy.deepcopy(value)
    problems = compiled.problems(value)
    fitted = compiled.fit(value)
    assert same(value, before)
    if fitted.notes:
        assert problems
        assert fitted.problems == compiled.problems(fitted.value) == ()
        assert not same(fitted.value, value)
        assert read_or_dropped(value, fitted.value)
    else:
        assert fitted.value is value
        assert bool(fitted.problems) == bool(problems)
    again = compiled.fit(fitted.value)
    assert again.value is fitted.value
    assert again.problems == fitted.problems
    assert again.notes == ()


@given(
    st.dictionaries(st.sampled_from("abc"), SCHEMAS, min_size=1),
    st.dictionaries(st.sampled_from("abcd"), VALUES, min_size=1),
)
def test_a_property_that_fits_is_never_touched(
    properties: dict[str, Any], value: dict[str, Any]
) -> None:
    fitted = fit({"properties": properties, "$defs": DEFS}, value)
    for name, item in value.items():
        schema = {**properties.get(name, {}), "$defs": DEFS}
        if not CompiledSchema(schema, Limits()).problems(item):
            assert same(fitted.value[name], item)


def test_a_schema_that_cannot_be_used_says_so_when_it_is_compiled() -> None:
    with pytest.raises(SchemaError):
        fit({"type": "int"}, {})
