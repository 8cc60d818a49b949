"""What went wrong in other assemblers of streamed calls, and must not here."""

import json

import pytest

from deferred_tools.bridge import DIALECTS, UNKNOWN, Dialect, Fragment, Reason
from tests.core.bridge.calls import only_invalid, streamed
from tests.support.shared import shared_folder

CUT = '{"table":"orders","dry_run":tr'
TESTED = {"B24", "B25", "B27", "B28"}


def test_every_report_of_this_kind_is_tested_here() -> None:
    lines = (shared_folder() / "cases" / "bug-reports.jsonl").read_text(encoding="utf-8")
    reports = [json.loads(line) for line in lines.splitlines()]
    assert {it["id"] for it in reports if it["class"] == "4-stream-assembly"} == TESTED


def test_b24_new_ids_at_one_index_are_new_calls() -> None:
    whole = [Fragment(index=0, id=f"i{n}", name="a", arguments=f'{{"x":{n}}}') for n in (1, 2, 3)]
    assert streamed(*whole) == [("i1", "a", {"x": 1}), ("i2", "a", {"x": 2}), ("i3", "a", {"x": 3})]


def test_b24_new_names_at_one_index_are_new_calls() -> None:
    whole = [Fragment(index=0, name=name, arguments='{"x":1}') for name in "abc"]
    assert streamed(*whole) == [(f"call_t_{n}", name, {"x": 1}) for n, name in enumerate("abc")]


@pytest.mark.parametrize("values", [(1, 2, 3), (1, 1, 1)])
def test_b24_the_same_tool_three_times_is_three_calls(values: tuple[int, ...]) -> None:
    whole = [Fragment(index=0, name="a", arguments=f'{{"x":{value}}}') for value in values]
    assert streamed(*whole) == [(f"call_t_{n}", "a", {"x": x}) for n, x in enumerate(values)]


def test_b24_an_index_may_be_the_place_in_the_list_of_tools() -> None:
    assert streamed(
        Fragment(index=4, id="i1", name="e", arguments='{"x":1}'),
        Fragment(index=1, id="i2", name="b", arguments='{"x":2}'),
        Fragment(index=4, id="i3", name="e", arguments='{"x":3}'),
    ) == [("i1", "e", {"x": 1}), ("i2", "b", {"x": 2}), ("i3", "e", {"x": 3})]


@pytest.mark.parametrize("dialect", [UNKNOWN, DIALECTS["openai_chat"]], ids=lambda it: it.name)
@pytest.mark.parametrize(
    "indexes", [(None, None, None), ("0", 0, 0), (0, 0, 0), (0, None, None), ("0", "0", None)]
)
def test_b25_fragments_without_identity_continue_the_open_call(
    indexes: tuple[int | str | None, ...], dialect: Dialect
) -> None:
    first, second, third = indexes
    assert streamed(
        Fragment(index=first, id="i1", name="a", arguments=""),
        Fragment(index=second, arguments='{"x"'),
        Fragment(index=third, arguments=":1}"),
        dialect=dialect,
    ) == [("i1", "a", {"x": 1})]


def test_b25_nothing_is_run_with_no_arguments_because_its_fragments_were_lost() -> None:
    assert streamed(
        Fragment(index=0, id="i1", name="now"),
        Fragment(index=1, arguments='{"zone":"CET"}'),
    ) == [Reason.CONFLICTING, Reason.NO_NAME]


@pytest.mark.parametrize("reason", ["length", "tool_calls", None])
@pytest.mark.parametrize("text", [CUT, '{"table":"orders","filter":{"id":1}', "{"])
def test_b27_a_call_that_is_cut_off_is_truncated_whatever_the_wire_says(
    text: str, reason: str | None
) -> None:
    found = only_invalid(Fragment(index=0, id="i1", name="a", arguments=text), reason=reason)
    assert (found.reason, found.raw) == (Reason.TRUNCATED, text)


def test_b27_the_limit_voids_the_last_call_even_where_it_looks_whole() -> None:
    whole = [Fragment(index=n, id=f"i{n}", name="a", arguments='{"x":1}') for n in (0, 1)]
    assert streamed(*whole, reason="length") == [("i0", "a", {"x": 1}), Reason.TRUNCATED]


@pytest.mark.parametrize(
    "texts", [("",), (None,), ("null",), ("  ",), ("nu", "ll"), ("", "{}"), ("{}",), ("{", "}")]
)
def test_b28_nothing_means_no_arguments(texts: tuple[str | None, ...]) -> None:
    more = [Fragment(index=0, arguments=text) for text in texts]
    assert streamed(Fragment(index=0, id="i1", name="now"), *more) == [("i1", "now", {})]


@pytest.mark.parametrize("text", ["", None, "null", "  "])
def test_b28_nothing_is_said_to_be_missing_where_some_are_required(text: str | None) -> None:
    found = only_invalid(Fragment(index=0, id="i1", name="mail", arguments=text))
    assert found.reason is Reason.UNPARSEABLE
    assert "requires some" in found.message


@pytest.mark.parametrize("text", ["[]", "0", '"{}"', "false", '"x"'])
def test_b28_other_values_are_not_coerced(text: str) -> None:
    found = only_invalid(Fragment(index=0, id="i1", name="now", arguments=text))
    assert found.reason is Reason.UNPARSEABLE
