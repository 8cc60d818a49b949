"""Progressive disclosure by qualified id: look around, search, fetch one schema."""

import pytest

from deferred_tools import ToolIndex, ToolSpec
from deferred_tools.index import SEARCH_RESULTS_CAP

SCHEMA = {"type": "object", "properties": {"title": {"type": "string"}}}
SPECS = [
    ToolSpec(source="jira", tool="add", description="Open an ISSUE of a project"),
    ToolSpec(source="github", tool="create_issue", description="Open one", input_schema=SCHEMA),
    ToolSpec(source="db", tool="run", description="Runs\n  a query", name="db__run_1"),
]
INDEX = ToolIndex.from_tools(SPECS)


def ids(query: str, index: ToolIndex = INDEX, **more: int) -> list[str]:
    return [summary.name for summary in index.search(query, **more)]


def test_a_search_looks_in_ids_and_descriptions_whatever_the_case() -> None:
    assert ids("Issue") == ["github__create_issue", "jira__add"]
    assert ids("GITHUB__") == ["github__create_issue"]
    assert ids("runs a query") == ["db__run"]
    assert ids("nothing like it") == []


def test_an_empty_query_gives_the_first_tools_in_order() -> None:
    for query in ("", "  "):
        assert ids(query) == [spec.id for spec in SPECS]
        assert ids(query, limit=2) == ["jira__add", "github__create_issue"]


def test_no_search_gives_more_than_the_cap() -> None:
    many = ToolIndex.from_tools(ToolSpec(source="s", tool=f"t{n}") for n in range(100))
    for query in ("", "s__"):
        assert ids(query, many) == [f"s__t{n}" for n in range(SEARCH_RESULTS_CAP)]
        assert len(many.search(query, limit=99)) == SEARCH_RESULTS_CAP == 30
        assert len(many.search(query, limit=7)) == 7
        assert many.search(query, limit=0) == many.search(query, limit=-1) == ()


def test_a_summary_is_one_line_and_its_name_fetches_the_schema() -> None:
    (summary,) = INDEX.search("runs")
    assert (summary.name, summary.description, summary.source) == ("db__run", "Runs a query", "db")
    assert summary.name in INDEX


def test_a_schema_comes_as_it_was_given_or_not_at_all() -> None:
    assert INDEX.get_schema("github__create_issue") == SCHEMA
    assert INDEX.get_schema("jira__add") is None
    assert INDEX.get_schema("no__such") is None


@pytest.mark.parametrize("tool_id", ["no__such", "db__run_1", "create_issue", ""])
def test_only_qualified_ids_are_in_the_index(tool_id: str) -> None:
    assert tool_id not in INDEX
    assert all(spec.id in INDEX for spec in SPECS)


def test_an_index_has_a_length_and_an_empty_one_is_false() -> None:
    assert len(INDEX) == 3
    assert INDEX
    empty = ToolIndex.from_tools(())
    assert not empty
    assert empty.search("") == empty.search("x") == ()


def test_of_two_tools_with_one_id_the_last_is_used_and_it_is_said() -> None:
    late = ToolSpec(source="jira", tool="add", description="Later", input_schema=SCHEMA)
    index = ToolIndex.from_tools([*SPECS, late])
    assert len(index) == 3
    assert index.get_schema("jira__add") == SCHEMA
    assert ids("later", index) == ["jira__add"]
    (warning,) = index.warnings
    assert "'add'" in warning
    assert "'jira'" in warning
    assert INDEX.warnings == ()
