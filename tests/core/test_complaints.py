"""What the model is told: where, what was expected, the nearest name; never a value."""

import time
from typing import Any

import pytest

from deferred_tools.limits import Limits
from deferred_tools.validation import CompiledSchema

DRAFT4 = "http://json-schema.org/draft-04/schema#"
DRAFT7 = "http://json-schema.org/draft-07/schema#"


def told(schema: dict[str, Any], value: Any) -> tuple[str, ...]:
    return CompiledSchema(schema, Limits()).problems(value)


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        ({"type": "integer"}, "x", "expected an integer, not a string"),
        ({"type": "object"}, None, "expected an object, not null"),
        ({"type": ["array", "null"]}, 1.5, "expected an array or null, not a number"),
        ({"type": "number"}, True, "expected a number, not a boolean"),
        ({"type": "boolean"}, [], "expected a boolean, not an array"),
        ({"type": "string"}, {}, "expected a string, not an object"),
        ({"enum": ["asc", "desc"]}, "up", 'expected one of "asc", "desc"'),
        ({"enum": ["x"]}, 1, 'expected "x"'),
        ({"const": {"k": "é"}}, 1, 'expected {"k": "é"}'),
        ({"minimum": 3}, 1, "expected at least 3"),
        ({"maximum": 0.5}, 1, "expected at most 0.5"),
        ({"exclusiveMinimum": 3}, 3, "expected more than 3"),
        ({"exclusiveMaximum": 3}, 3, "expected less than 3"),
        ({"multipleOf": 5}, 3, "expected a multiple of 5"),
        ({"minLength": 2}, "a", "expected at least 2 characters"),
        ({"maxLength": 1}, "ab", "expected at most 1 characters"),
        ({"pattern": r"^\d{2}$"}, "a", r"expected text that matches ^\d{2}$"),
        ({"minItems": 2}, [], "expected at least 2 items"),
        ({"maxItems": 0}, [1], "expected at most 0 items"),
        ({"uniqueItems": True}, [1, 1], "expected items that all differ"),
        ({"minProperties": 1}, {}, "expected at least 1 properties"),
        ({"maxProperties": 0}, {"a": 1}, "expected at most 0 properties"),
        (
            {"not": {"type": "string"}},
            "a",
            'expected something that does not fit {"type": "string"}',
        ),
        (
            {"contains": {"type": "string"}},
            [1],
            'expected at least 1 of its items to fit {"type": "string"}',
        ),
        (
            {"contains": {"const": 1}, "minContains": 2},
            [1],
            'expected at least 2 of its items to fit {"const": 1}',
        ),
        (
            {"contains": {"const": 1}, "maxContains": 1},
            [1, 1],
            'expected at most 1 of its items to fit {"const": 1}',
        ),
        ({"propertyNames": {"pattern": "^x"}}, {"y": 1}, "the name 'y': expected text that"),
        ({"oneOf": [{"minimum": 1}, {"minimum": 2}]}, 3, "fits several alternatives of which only"),
        ({"items": False}, [1], "0: nothing is allowed here"),
        ({"unevaluatedItems": False}, [1], "Unevaluated items are not allowed"),
    ],
    ids=lambda case: str(case)[:40],
)
def test_each_keyword_says_what_it_expects(
    schema: dict[str, Any], value: Any, expected: str
) -> None:
    (problem,) = told(schema, value)
    assert problem.startswith(expected)
    (problem,) = told({"properties": {"a": schema}}, {"a": value})
    assert problem.startswith(("a: " if expected[0] != "0" else "a.") + expected)


def test_older_drafts_are_told_in_the_same_words() -> None:
    draft4 = {"$schema": DRAFT4, "minimum": 3, "exclusiveMinimum": True}
    assert told(draft4, 3) == ("expected more than 3",)
    draft7 = {"$schema": DRAFT7, "format": "email", "dependencies": {"a": ["b"]}}
    assert told(draft7, "x") == ("expected text in the format 'email'",)
    assert told(draft7, {"a": 1}) == ("missing 'b'",)


def test_everything_that_is_missing_at_one_place_is_named_together() -> None:
    schema = {
        "required": ["a", "b"],
        "properties": {"c": {"required": ["d"]}, "e": {"type": "null"}},
    }
    assert told(schema, {"e": 1, "c": {}}) == (
        "missing 'a', 'b'",
        "c: missing 'd'",
        "e: expected null, not an integer",
    )
    assert told({"required": list("abcdefg")}, {}) == (
        "missing 'a', 'b', 'c', 'd', 'e' and 2 more",
    )


# --- names


STRICT = {"properties": {"query": {}, "limit": {}}, "additionalProperties": False}


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"quary": 1}, "unknown argument 'quary'; did you mean 'query'?"),
        ({"quary": 1, "limits": 1}, "unknown argument 'quary', 'limits'; did you mean 'query', "),
        ({"zzz": 1}, "unknown argument 'zzz'; known and not given: 'query', 'limit'"),
        ({"querys": 1, "query": 1}, "unknown argument 'querys'; known and not given: 'limit'"),
        ({"zzz": 1, "query": 1, "limit": 1}, "unknown argument 'zzz'"),
    ],
)
def test_an_unknown_name_is_told_with_the_nearest_that_is_not_given(
    value: Any, problem: str
) -> None:
    assert told(STRICT, value)[0].startswith(problem)


def test_an_unknown_name_further_in_is_a_property() -> None:
    schema = {"properties": {"a": {"$ref": "#/$defs/s"}}, "$defs": {"s": STRICT}}
    assert told(schema, {"a": {"Query": 1}}) == (
        "a: unknown property 'Query'; did you mean 'query'?",
    )
    schema = {"properties": {"a": {}}, "unevaluatedProperties": False}
    assert told(schema, {"b": 1}) == ("unknown argument 'b'; known and not given: 'a'",)
    assert told({"additionalProperties": False}, {"b": 1}) == ("no properties are allowed here",)


def test_the_nearest_options_of_a_long_list_come_first() -> None:
    schema = {"enum": [f"option-{at}" for at in range(300)] + ["descending"]}
    (problem,) = told(schema, "decending")
    assert problem.startswith('expected one of "descending", "option-0", ')
    assert problem.endswith(" and 291 more")


# --- alternatives


TEXT, LIST = {"type": "string"}, {"type": "array", "items": {"type": "string"}}


def tagged(kind: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"kind": {"const": kind}, "n": {"type": "integer"}},
        "required": ["kind", "n"],
    }


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
@pytest.mark.parametrize(
    ("alternatives", "value", "problem"),
    [
        ([TEXT, LIST], 5, "expected a string or an array"),
        ([TEXT, LIST], {}, "expected a string or an array, not an object"),
        ([{"type": "integer"}, {"const": "auto"}], "x", 'expected an integer or "auto"'),
        ([TEXT, LIST], ["a", 5], "1: expected a string, not an integer"),
        ([tagged("a"), tagged("b")], {"kind": "a"}, "missing 'n'"),
        (
            [tagged("a"), tagged("b")],
            {"kind": "b", "n": "x"},
            "n: expected an integer, not a string",
        ),
        (
            [tagged("a"), tagged("b")],
            {"kind": "c", "n": 1},
            'fits none of 2 alternatives: kind: expected "a" | kind: expected "b"',
        ),
        (
            [{"required": ["a"]}, {"required": ["b"]}],
            {},
            "fits none of 2 alternatives: missing 'a'",
        ),
    ],
)
def test_alternatives_tell_what_is_wrong_with_the_nearest_or_what_each_wants(
    keyword: str, alternatives: list[Any], value: Any, problem: str
) -> None:
    assert told({keyword: alternatives}, value)[0].startswith(problem)


def test_all_that_is_wrong_with_the_only_near_alternative_is_told() -> None:
    assert told({"anyOf": [TEXT, LIST]}, [1, "x", None]) == (
        "0: expected a string, not an integer",
        "2: expected a string, not null",
    )


@pytest.mark.parametrize("value", [5, {}, {"a": {"a": {}}}])
def test_alternatives_far_within_alternatives_are_told_in_general(value: Any) -> None:
    chain: dict[str, Any] = {
        f"n{at}": {"anyOf": [{"$ref": f"#/$defs/n{at + 1}"}]} for at in range(400)
    }
    schema = {"$defs": {**chain, "n400": {"type": "null"}}, "$ref": "#/$defs/n0"}
    started = time.monotonic()
    (problem,) = told(schema, value)
    assert problem.startswith("expected one of the alternatives")
    assert time.monotonic() - started < 5


# --- bounds


@pytest.mark.parametrize(("wrong", "lines"), [(4, 4), (5, 5), (6, 6), (50, 6)])
def test_at_most_five_problems_are_told(wrong: int, lines: int) -> None:
    problems = told({"items": {"type": "integer"}}, ["x"] * wrong)
    assert len(problems) == lines
    assert (problems[-1] == "and more") == (wrong > 5)


def test_a_problem_that_is_found_twice_is_told_once() -> None:
    integer = {"type": "integer"}
    assert len(told({"allOf": [integer, integer], **integer}, "x")) == 1


LONG = "x" * 9_000


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"const": LONG}, "a"),
        ({"enum": [LONG, LONG + "y"]}, LONG),
        ({"pattern": LONG}, LONG),
        ({"not": {"const": LONG}}, LONG),
        ({"contains": {"const": LONG}}, [LONG]),
        ({"required": [LONG + "1", LONG + "2"]}, {}),
        ({"propertyNames": {"maxLength": 1}}, {LONG: 1}),
        ({"additionalProperties": {"type": "integer"}}, {LONG: LONG}),
        ({"properties": {LONG: {}}, "additionalProperties": False}, {LONG + "y": 1}),
        ({"anyOf": [{"const": LONG + "1"}, {"const": LONG + "2"}]}, 1),
        ({"anyOf": [{"required": [LONG]}, {"required": [LONG + "1"]}]}, {}),
        ({"format": LONG, "$schema": DRAFT7, "type": "integer"}, LONG),
    ],
    ids=lambda case: str(case)[:40],
)
def test_a_problem_is_short_whatever_the_schema_and_the_value_are(
    schema: dict[str, Any], value: Any
) -> None:
    for problem in told(schema, value):
        assert len(problem) <= 700


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer"},
        {"enum": ["a"]},
        {"pattern": "^a$"},
        {"maxLength": 1},
        {"not": {}},
        {"anyOf": [{"type": "integer"}, {"const": 1}]},
        {"oneOf": [{}, {}]},
        False,
    ],
    ids=str,
)
def test_no_problem_quotes_the_value(schema: Any) -> None:
    problems = told({"additionalProperties": schema}, {"a": "hunter2"})
    assert problems
    assert not any("hunter2" in problem for problem in problems)
