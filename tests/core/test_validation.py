"""JSON Schema within limits: offline, bounded in size, depth and work, with paths in complaints."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.limits import Limits
from deferred_tools.validation import CompiledSchema, SchemaError, compile_parameters

LIMITS = Limits()
DRAFTS = (
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
)
# Of bug report B37, with a listener's port and a pipe that nobody writes to.
ELSEWHERE = {
    "metadata service": "http://169.254.169.254/latest/meta-data",
    "http": "http://127.0.0.1:{port}/x.json",
    "https": "https://127.0.0.1:{port}/x.json#/definitions/a",
    "ftp": "ftp://127.0.0.1:{port}/x.json",
    "file": "file://{pipe}",
    "file of localhost": "file://localhost{pipe}#/a",
    "path": "{pipe}",
    "protocol-relative": "//127.0.0.1:{port}/x.json",
    "relative": "x.json",
}


def remote_schemas(uri: str, *, draft: str = "") -> dict[str, dict[str, Any]]:
    """Schemas that need what is at `uri`, each in another way."""
    base, _, last = uri.rpartition("/")
    schemas: dict[str, dict[str, Any]] = {
        "$ref": {"$ref": uri},
        "property": {"properties": {"a": {"$ref": uri}}},
        "unused definition": {"definitions": {"a": {"$ref": uri}}},
        "items": {"properties": {"a": {"items": {"anyOf": [{"$ref": uri}]}}}},
        "hostile $id": {"$id": f"{base}/", "id": f"{base}/", "allOf": [{"$ref": last}]},
        "hostile inner $id": {
            "properties": {"a": {"$id": f"{base}/", "id": f"{base}/", "allOf": [{"$ref": last}]}}
        },
    }
    if not draft or "2020-12" in draft:
        schemas["$dynamicRef"] = {"$dynamicRef": f"{uri}#a"}
    if draft:
        schemas = {name: {"$schema": draft, **schema} for name, schema in schemas.items()}
    elif ":" in uri:  # a $schema is an absolute URI
        schemas["$schema"] = {"$schema": uri, "type": "object"}
    return schemas


def compiled(schema: dict[str, Any], **bounds: Any) -> CompiledSchema:
    return CompiledSchema(schema, Limits(**bounds))


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {"a": value}
    return value


# --- complaints


def test_a_value_that_fits_has_no_problems() -> None:
    schema = compiled({"type": "object", "properties": {"a": {"type": "integer"}}})
    assert schema.problems({"a": 1}) == schema.problems({}) == ()


def test_a_complaint_names_the_path() -> None:
    schema = compiled({"properties": {"a": {"items": {"properties": {"b": {"type": "integer"}}}}}})
    assert schema.problems({"a": [{"b": 1}, {"b": "x"}]}) == (
        "a.1.b: expected an integer, not a string",
    )


def test_no_json_value_is_a_complaint_and_no_crash() -> None:
    schema = compiled({"properties": {"a": {"type": "string"}}})
    assert schema.problems({"a": object()})
    assert schema.problems({1: "x"})  # no JSON key
    assert schema.problems({"a": 10**5_000})  # more digits than Python writes
    assert schema.problems({"a": "\ud800"}) == ()  # half a surrogate pair is text all the same
    assert schema.problems({"a": ["\ud800"]}) == (
        "it does not fit, and has half of a surrogate pair",
    )


# --- schemas that cannot be used


@pytest.mark.parametrize("draft", ["", *DRAFTS])
@pytest.mark.parametrize("uri", ELSEWHERE.values(), ids=ELSEWHERE)
def test_a_schema_that_refers_outside_itself_is_refused(uri: str, draft: str) -> None:
    for name, schema in remote_schemas(uri.format(port=9, pipe="/a/b"), draft=draft).items():
        with pytest.raises(SchemaError) as raised:
            pytest.fail(f"{name}: {CompiledSchema(schema, LIMITS)}")
        assert len(str(raised.value)) <= 300
        with pytest.raises(SchemaError):
            compile_parameters(schema, LIMITS)


def test_nothing_outside_is_opened_while_schemas_are_refused_or_used(tmp_path: Path) -> None:
    """B37: an audit hook sees what Python opens, the listener and the pipe what anybody does."""
    code = """
import json, sys
from deferred_tools.limits import Limits
from deferred_tools.validation import CompiledSchema, SchemaError
CompiledSchema({}, Limits()).fit({})
seen = []
def note(event, args):
    if event == "open" or event.startswith(("socket.", "urllib.", "subprocess.", "os.")):
        seen.append(event)
refusable, usable = json.load(sys.stdin)
sys.addaudithook(note)
refused = used = 0
for schema in refusable:
    try:
        CompiledSchema(schema, Limits())
    except SchemaError:
        refused += 1
for schema in usable:
    compiled = CompiledSchema(schema, Limits())
    used += bool(compiled.fit({"a": "1"}).notes) and bool(compiled.problems({"a": "x"}))
print(refused, used, seen)
"""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)  # to open it for reading would not return
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        uris = [uri.format(port=listener.getsockname()[1], pipe=pipe) for uri in ELSEWHERE.values()]
        refusable = [
            schema
            for uri in uris
            for draft in ("", *DRAFTS)
            for schema in remote_schemas(uri, draft=draft).values()
        ]
        # Where a schema says that it comes from, and what it calls its parts, is only a name.
        integer = {"properties": {"a": {"type": "integer"}}}
        usable: list[Any] = [
            {"$id": uri, "id": uri, "$schema": draft, **integer}
            for uri in uris
            for draft in DRAFTS
            if "#" not in uri
        ]
        usable.append({"properties": {"a": {"$schema": uris[1], "type": "integer"}}})
        done = subprocess.run(
            [sys.executable, "-c", code],
            input=json.dumps([refusable, usable]),
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        assert done.stdout.strip() == f"{len(refusable)} {len(usable)} []"
        with pytest.raises(BlockingIOError):
            listener.accept()


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "int"},
        {"properties": []},
        {"required": "a"},
        {"pattern": "("},
        {"pattern": "(a{1000}){1000}"},
        {"$ref": "#/$defs/none"},
        {"$ref": 5},
        {"minimum": "1"},
    ],
    ids=str,
)
def test_a_schema_that_is_none_is_refused(schema: dict[str, Any]) -> None:
    with pytest.raises(SchemaError):
        CompiledSchema(schema, LIMITS)


@pytest.mark.parametrize("kind", ["string", ["object", "null"], "int", 5, None])
def test_arguments_must_be_described_as_an_object(kind: Any) -> None:
    with pytest.raises(SchemaError, match="must be of type 'object'"):
        compile_parameters({"type": kind}, LIMITS)


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"type": ["object"]}])
def test_an_object_may_be_said_in_three_ways(schema: dict[str, Any]) -> None:
    assert compile_parameters(schema, LIMITS).problems({"a": 1}) == ()


# --- bounds


@pytest.mark.parametrize("depth", [4, 5, 6])
def test_a_schema_may_be_as_deep_as_the_bound(depth: int) -> None:
    if depth <= 5:
        assert compiled(nested(depth), schema_depth=5)
    else:
        with pytest.raises(SchemaError, match="nested deeper than 5 levels"):
            compiled(nested(depth), schema_depth=5)


@pytest.mark.parametrize("depth", [4, 5, 6])
def test_a_value_may_be_as_deep_as_the_bound(depth: int) -> None:
    problems = compiled({}, schema_depth=5).problems(nested(depth))
    assert problems == (() if depth <= 5 else ("nested deeper than 5 levels",))


def test_depth_beyond_any_stack_is_a_complaint_and_no_crash() -> None:
    value: Any = []
    for _ in range(100_000):
        value = [value]
    assert compiled({}).problems({"a": value}) == ("nested deeper than 64 levels",)
    with pytest.raises(SchemaError):
        CompiledSchema({"default": value}, LIMITS)
    while value:  # or the interpreter itself would recurse while it frees it
        value = value[0]


@pytest.mark.parametrize("nodes", [9, 10, 11])
def test_a_schema_may_have_as_many_nodes_as_the_bound(nodes: int) -> None:
    schema = {"enum": list(range(nodes - 1))}
    if nodes <= 10:
        assert compiled(schema, schema_nodes=10)
    else:
        with pytest.raises(SchemaError, match="more than 10 values"):
            compiled(schema, schema_nodes=10)


@pytest.mark.parametrize("size", [99, 100, 101])
def test_a_schema_may_have_as_many_bytes_of_compact_json_as_the_bound(size: int) -> None:
    room = len('{"title":"","a":1}')
    schema = {"title": "é" * ((size - room) // 2) + "x" * ((size - room) % 2), "a": 1}
    if size <= 100:
        assert compiled(schema, schema_bytes=100)
    else:
        with pytest.raises(SchemaError, match="101 bytes of JSON exceed 100"):
            compiled(schema, schema_bytes=100)


@pytest.mark.parametrize("size", [99, 100, 101])
def test_a_value_may_have_as_many_bytes_of_compact_json_as_the_bound(size: int) -> None:
    value = {"a": "x" * (size - len('{"a":""}'))}
    problems = compiled({}, arguments_bytes=100).problems(value)
    assert problems == (() if size <= 100 else ("101 bytes of JSON exceed 100",))


@pytest.mark.parametrize("items", [8, 9, 10])
def test_a_value_may_take_as_many_steps_to_check_as_the_bound(items: int) -> None:
    problems = compiled({"items": {"type": "integer"}}, validation_steps=10).problems([1] * items)
    assert bool(problems) == (items > 9)  # one step is for the list itself


RECURSIVE = {
    "itself": {"$ref": "#"},
    "each other": {
        "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
        "$ref": "#/$defs/a",
    },
    "in an alternative": {"anyOf": [{"$ref": "#"}, {"type": "object"}]},
    "by an anchor": {"$dynamicAnchor": "n", "$dynamicRef": "#n"},
    "of 2019": {
        "$schema": "https://json-schema.org/draft/2019-09/schema",
        "$recursiveRef": "#",
    },
}


@pytest.mark.parametrize("schema", RECURSIVE.values(), ids=RECURSIVE)
def test_a_schema_that_turns_in_circles_ends(schema: dict[str, Any]) -> None:
    started = time.monotonic()
    compiled(schema, validation_steps=10_000).problems({"a": 1})
    assert time.monotonic() - started < 5


def test_a_tree_is_checked_to_its_leaves() -> None:
    tree = {
        "$defs": {
            "node": {
                "type": "object",
                "properties": {
                    "value": {"type": "integer"},
                    "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                },
            }
        },
        "$ref": "#/$defs/node",
    }
    good = {"children": [{"children": [{"value": 1}]}, {"value": 2}]}
    assert compiled(tree).problems(good) == ()
    bad = {"children": [{"children": [{"value": "x"}]}]}
    assert compiled(tree).problems(bad) == (
        "children.0.children.0.value: expected an integer, not a string",
    )


def doubling(levels: int) -> dict[str, Any]:
    """A small schema that holds a value against 2 ** `levels` alternatives."""
    defs: dict[str, Any] = {
        f"n{at}": {"anyOf": [{"$ref": f"#/$defs/n{at + 1}"}, {"$ref": f"#/$defs/n{at + 1}"}]}
        for at in range(levels)
    }
    return {"$defs": {**defs, f"n{levels}": {"type": "string"}}, "$ref": "#/$defs/n0"}


def test_alternatives_that_multiply_are_refused_and_not_tried() -> None:
    (problem,) = compiled(doubling(40)).problems({"a": 1})
    assert problem == "more than 200000 steps would be needed to check it"


def test_a_recursion_that_multiplies_with_the_value_is_refused_and_not_tried() -> None:
    turn = {"properties": {"a": {"$ref": "#"}}}
    schema = compiled(
        {"anyOf": [{**turn, "required": ["b"]}, {**turn, "required": ["c"]}]},
        validation_steps=20_000,
    )
    assert "none of 2 alternatives" in schema.problems(nested(3))[0]
    assert "steps" in schema.problems(nested(40))[0]


def test_what_would_take_too_long_to_explain_is_told_without_a_place() -> None:
    # In full it would copy the text for each alternative: gigabytes.
    alternatives = {"anyOf": [{"type": "integer", "minimum": at} for at in range(300)]}
    schema = compiled({"properties": {"a": alternatives}})
    assert schema.problems({"a": 300}) == ()
    assert "a: " in schema.problems({"a": "x"})[0]
    assert schema.problems({"a": "x" * 100_000}) == (
        "it does not fit, and is too large or intricate to say where",
    )


def test_thousands_of_names_missing_beside_a_text_are_told_without_a_place() -> None:
    # Each is a complaint, with a copy of the whole: half a gigabyte.
    schema = compiled({"required": [f"n{at}" for at in range(9_000)]})
    assert schema.problems({"a": "x" * 60_000}) == (
        "it does not fit, and is too large or intricate to say where",
    )


def test_a_large_text_is_no_reason_not_to_say_where_another_argument_is_wrong() -> None:
    kinds = {"content": {"type": "string"}, "overwrite": {"type": "boolean"}}
    schema = compiled({"type": "object", "properties": kinds, "required": list(kinds)})
    large = {"content": "x" * 3_000_000}
    assert schema.problems({**large, "overwrite": "x"}) == (
        "overwrite: expected a boolean, not a string",
    )
    assert schema.fit({**large, "overwrite": "true"}).value == {**large, "overwrite": True}


def test_a_pattern_with_look_around_gives_up_after_bounded_steps_back() -> None:
    schema = compiled({"properties": {"a": {"pattern": "^(?=a)(a|a)*$"}}})
    started = time.monotonic()
    assert schema.problems({"a": "a" * 40 + "!"})
    assert time.monotonic() - started < 2
    assert schema.problems({"a": "aaa"}) == ()


def test_many_patterns_with_look_around_are_not_all_tried() -> None:
    schema = compiled({"items": {"anyOf": [{"pattern": "^(?=a)(a|a)*$"}, {}]}})
    assert "steps" in schema.problems(["a" * 40 + "!"] * 1_000)[0]


def test_references_by_name_are_followed_if_they_are_few() -> None:
    def schema(count: int) -> dict[str, Any]:
        named = {f"p{at}": {"$ref": "#word"} for at in range(count)}
        return {"$defs": {"w": {"$anchor": "word", "type": "string"}}, "properties": named}

    assert compiled(schema(16)).problems({"p0": "x"}) == ()
    assert compiled(schema(16)).problems({"p0": 1}) != ()
    with pytest.raises(SchemaError, match=r"more than 16 references other than '#/\.\.\.'"):
        compiled(schema(17))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=8,
)
KINDS = st.sampled_from(["object", "array", "string", "integer", "null", "boolean"])
SCHEMAS = st.recursive(
    st.builds(lambda kind: {"type": kind}, KINDS) | st.just({}) | st.just({"$ref": "#/$defs/d"}),
    lambda inner: (
        st.builds(lambda some: {"anyOf": some}, st.lists(inner, min_size=1, max_size=2))
        | st.builds(lambda some: {"allOf": some}, st.lists(inner, min_size=1, max_size=2))
        | st.builds(lambda one: {"items": one}, inner)
        | st.builds(lambda one: {"not": one}, inner)
        | st.builds(lambda one: {"additionalProperties": one}, inner)
        | st.builds(
            lambda some: {"properties": some},
            st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
        )
    ),
    max_leaves=6,
)


@given(SCHEMAS, VALUES)
def test_any_schema_and_any_value_give_an_answer(schema: dict[str, Any], value: Any) -> None:
    try:
        problems = compiled({**schema, "$defs": {"d": {"type": "array"}}}).problems(value)
    except SchemaError:
        return
    assert len(problems) <= 6
    assert all(isinstance(problem, str) and problem for problem in problems)
