"""Keys are found where they stand, in whatever way they are written."""

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.documents.origin import KeyPath
from deferred_tools.documents.positions import json_keys, toml_keys

NAMES = st.text(max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)


def paths(value: object, path: KeyPath = ()) -> list[KeyPath]:
    """The paths of all keys inside `value`, in order."""
    found: list[KeyPath] = []
    if isinstance(value, dict):
        for key, item in value.items():
            found += [(*path, key), *paths(item, (*path, key))]
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found += paths(item, (*path, index))
    return found


@given(VALUES, st.sampled_from([None, 1]))
def test_every_key_of_a_json_text_is_found_in_order(value: object, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    assert [path for path, _ in json_keys(text)] == paths(value)


def test_lines_of_json_are_those_of_the_keys() -> None:
    text = '{"a": [{},\n {"b\\n": "{,\\"["}],\n\n "a": 1}'
    assert list(json_keys(text)) == [(("a",), 1), (("a", 1, "b\n"), 2), (("a",), 4)]


LINES: list[tuple[str, list[KeyPath]]] = [
    ("# [not.a.table]", []),
    ('top = """', [("top",)]),
    ('[nor.this] # "', []),
    ('x = 1 \\""""', []),
    ("lit = '''", [("lit",)]),
    ("y = 2'''  # [z]", []),
    ("\"quo.ted\\u0041\" . 'b' = [ 1, # ]", [("quo.tedA", "b")]),
    (' { c = "}", d.e = {}}, [', [("quo.tedA", "b", 1, "c"), ("quo.tedA", "b", 1, "d", "e")]),
    (" { g = [] } ] ]", [("quo.tedA", "b", 2, 0, "g")]),
    ("", []),
    ("[a.b]  # a comment", [("a", "b")]),
    ('c = "x = ["', [("a", "b", "c")]),
    ("[[list]]", [("list", 0)]),
    ("n = 1979-05-27T07:32:00Z", [("list", 0, "n")]),
    ("[list.sub]", [("list", 0, "sub")]),
    ("m = 1.5", [("list", 0, "sub", "m")]),
    ("[[list]]", [("list", 1)]),
    ("n = 'it\"s'", [("list", 1, "n")]),
    ("[[list.deep]]", [("list", 1, "deep", 0)]),
    ("o = true", [("list", 1, "deep", 0, "o")]),
    ("[ list . sub ]", [("list", 1, "sub")]),
    ("m = { }", [("list", 1, "sub", "m")]),
]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_of_toml_are_those_of_keys_and_headers(end: str) -> None:
    text = end.join(line for line, _ in LINES)
    tomllib.loads(text)
    expected = [(path, number) for number, (_, on) in enumerate(LINES, 1) for path in on]
    assert list(toml_keys(text)) == expected


def inline(value: object) -> str:
    """`value` as TOML, in one line."""
    if isinstance(value, dict):
        return (
            "{" + ", ".join(f"{quoted(key)} = {inline(item)}" for key, item in value.items()) + "}"
        )
    if isinstance(value, list):
        return "[" + ", ".join(map(inline, value)) + "]"
    return json.dumps(value) if not isinstance(value, str) else quoted(value)


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


TOML_VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=12,
)


@given(st.dictionaries(NAMES, TOML_VALUES, max_size=4))
def test_every_key_of_a_toml_text_is_found_in_order(value: dict[str, Any]) -> None:
    text = "".join(f"{quoted(key)} = {inline(item)}\n" for key, item in value.items())
    assert tomllib.loads(text) == value
    assert [path for path, _ in toml_keys(text)] == paths(value)


@given(st.text(alphabet="ab.=[]{},\"'\\#\n 1", max_size=60))
def test_a_text_that_is_no_toml_gives_keys_too(text: str) -> None:
    assert all(1 <= line <= text.count("\n") + 1 for _, line in toml_keys(text))
