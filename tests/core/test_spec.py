"""What a tool says of itself, the names it goes by and the one line it is shown in."""

import re
import unicodedata
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools import ToolSpec, ToolTag
from deferred_tools.spec import namespace, one_line, safe_name, suffixed

ANY_TEXT = st.text(st.characters(exclude_categories=()))
SPEC = ToolSpec(
    source="github",
    tool="create issue",
    title="Create",
    description="Create an issue.",
    input_schema={"type": "object", "properties": {"title": {"type": "string"}}},
    output_schema={"type": "object"},
    annotations={"readOnlyHint": False},
)


def test_until_a_registry_names_it_a_tool_goes_by_its_qualified_id() -> None:
    assert SPEC.id == SPEC.name == "github__create issue"
    assert replace(SPEC, name="github__create_issue").id == "github__create issue"


@pytest.mark.parametrize(
    "change",
    [
        {"description": "Delete an issue."},
        {"title": "Delete"},
        {"input_schema": {"type": "object"}},
        {"input_schema": None},
        {"output_schema": None},
        {"annotations": {"readOnlyHint": True}},
        {"tags": frozenset({ToolTag.EGRESS})},
        {"source": "gitlab"},
        {"tool": "delete issue"},
    ],
    ids=str,
)
def test_the_digest_changes_with_whatever_a_caller_relies_on(change: dict[str, Any]) -> None:
    assert replace(SPEC, name="", **change).digest != SPEC.digest


def test_the_digest_does_not_change_with_the_order_of_keys_or_the_view() -> None:
    schema = {"properties": {"title": {"type": "string"}}, "type": "object"}
    assert replace(SPEC, input_schema=schema).digest == SPEC.digest
    assert replace(SPEC, name="other", aliases=("bug",)).digest == SPEC.digest
    assert re.fullmatch("[0-9a-f]{16}", SPEC.digest)


@given(ANY_TEXT)
def test_any_text_has_a_digest(text: str) -> None:
    assert len(ToolSpec(source="s", tool=text, description=text).digest) == 16


@pytest.mark.parametrize(
    ("given_schema", "seen"),
    [
        (None, {"type": "object", "properties": {}}),
        ({}, {"type": "object", "properties": {}}),
        ({"type": "object"}, {"type": "object", "properties": {}}),
        ({"properties": {"a": {}}}, {"type": "object", "properties": {"a": {}}}),
        ({"type": "string"}, {"type": "string"}),
    ],
)
def test_the_parameters_are_an_object_with_properties_and_the_original_stays(
    given_schema: dict[str, Any] | None, seen: dict[str, Any]
) -> None:
    before = None if given_schema is None else dict(given_schema)
    spec = ToolSpec(source="s", tool="t", input_schema=given_schema)
    assert spec.parameters == seen
    assert spec.input_schema == before


@pytest.mark.parametrize("length", [9, 10, 11])
def test_a_line_is_cut_only_when_it_is_longer_than_allowed(length: int) -> None:
    text = "a" * length
    assert one_line(text, 10) == (text if length <= 10 else "a" * 9 + "…")


def test_a_line_is_cut_at_a_word() -> None:
    assert one_line("Create an issue, in a repository", 20) == "Create an issue…"


@pytest.mark.parametrize(
    "hidden",
    [
        "\u200b",  # zero-width space
        "\u202e",  # right-to-left override
        "\U000e0041",  # tag letter
        "\ufe01",  # variation selector
        "\U000e0150",  # the same, of the supplement
        "\u3164",  # Hangul filler
        "\x1b",  # escape
        "\ud800",  # half a surrogate pair
        "\ufeff",
    ],
    ids=ascii,
)
def test_what_cannot_be_seen_is_not_in_a_line(hidden: str) -> None:
    assert one_line(f"a{hidden}b", 50) == "ab"


@pytest.mark.parametrize("space", ["\n", "\r\n", "\t", "\u2028", "\u2029", "\x85", "\xa0", "\x0b"])
def test_every_kind_of_break_is_one_space(space: str) -> None:
    assert one_line(f"a{space}{space}b", 50) == "a b"


@given(ANY_TEXT, st.integers(1, 80))
def test_a_line_is_short_printable_and_one(text: str, length: int) -> None:
    line = one_line(text, length)
    assert len(line) <= length
    assert len(line.splitlines()) <= 1
    assert all(unicodedata.category(char)[0] != "C" for char in line)
    assert one_line(line, length) == line


def test_a_line_of_a_huge_text_is_made_of_its_beginning() -> None:
    assert one_line("word " * 2_000_000, 200).startswith("word word")


@given(ANY_TEXT)
def test_a_safe_name_has_only_what_providers_accept(text: str) -> None:
    assert re.fullmatch("[a-zA-Z0-9_-]*", safe_name(text))
    assert len(safe_name(text)) == len(text)


@given(ANY_TEXT)
def test_a_namespace_has_no_separator_inside_or_at_its_ends(text: str) -> None:
    found = namespace(text)
    assert re.fullmatch("([a-zA-Z0-9-]+(_[a-zA-Z0-9-]+)*)?", found)
    assert namespace(found) == found


@given(ANY_TEXT, ANY_TEXT, st.integers(16, 128))
def test_a_suffixed_name_fits_and_keeps_its_beginning(
    candidate: str, qualified_id: str, length: int
) -> None:
    name = suffixed(candidate, qualified_id, length)
    assert len(name) <= length
    assert name.startswith(candidate[: length - 9])
    assert re.fullmatch("_[0-9a-f]{8}", name[-9:])


def test_a_suffix_is_the_same_for_ever() -> None:
    assert suffixed("github__x", "github__x y", 64) == "github__x_75599312"
