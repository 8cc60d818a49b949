"""Files of tools and queries: what is read, what is refused, what is said of it."""

import gzip
import json
from pathlib import Path

import pytest

from deferred_tools.errors import ConfigurationError
from deferred_tools.evaluation.data import (
    Query,
    by_name,
    read_queries,
    read_tools,
    sample,
    unknown,
)
from deferred_tools.spec import ToolSpec
from tests.support.shared import shared_folder

SETS = ("shortmix", "livemcpbench", "metatool", "bfcl", "sealtools", "toolbench")


def test_a_row_becomes_a_tool_that_goes_by_its_id(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"q": {"type": "str"}}}
    row = {"id": "s/find", "name": "find", "description": "Find", "parameters": schema}
    file = tmp_path / "tools.jsonl"
    file.write_text(json.dumps({**row, "server": "s", "category": "ignored"}))
    (spec,) = read_tools(file).rows
    assert (spec.name, spec.tool, spec.source) == ("s/find", "find", "s")
    assert (spec.description, spec.input_schema) == ("Find", schema)


def test_what_a_tool_may_leave_out_may_be_null_too(tmp_path: Path) -> None:
    file = tmp_path / "tools.jsonl"
    file.write_text(
        '{"id": "a", "name": "a"}\n'
        '{"id": "b", "name": "b", "description": null, "parameters": null, "server": null}\n'
    )
    read = read_tools(file)
    assert [(spec.name, spec.description, spec.source) for spec in read.rows] == [
        ("a", "", "functions"),
        ("b", "", "functions"),
    ]
    assert read.problems == ()


def test_a_bad_row_costs_only_itself_and_is_reported_with_file_and_line(tmp_path: Path) -> None:
    file = tmp_path / "tools.jsonl"
    file.write_bytes(
        b'{"id": "a", "name": "a"}\r\n'
        b"not json\n"
        b"\n"
        b'{"id": "b"}\n'
        b'{"id": "c", "name": 7, "parameters": []}\n'
        b'{"id": "d", "name": "\xff"}\n'
        b'["e"]\n'
        b'{"id": "a", "name": "again"}\n'
        b'{"id": "z", "name": "z"}'
    )
    read = read_tools(file)
    assert [spec.name for spec in read.rows] == ["a", "z"]
    places, told = zip(*(problem.split(": ", 1) for problem in read.problems), strict=True)
    assert list(places) == [f"{file}:{line}" for line in (2, 4, 5, 6, 7, 8)]
    assert told[1] == "name: Field required"
    assert told[2].startswith("name: ")
    assert "parameters: " in told[2]
    assert told[5] == "there is a tool with the id 'a' before it"


def test_queries_need_a_text_and_an_answer(tmp_path: Path) -> None:
    file = tmp_path / "queries.jsonl"
    file.write_text(
        '{"id": "1", "query": "find", "relevant": ["a", "b", "a"]}\n'
        '{"id": "2", "query": " ", "relevant": ["a"]}\n'
        '{"id": "3", "query": "find", "relevant": []}\n'
        '{"id": "4", "query": "find", "relevant": "a"}\n'
    )
    read = read_queries(file)
    assert read.rows == (Query("1", "find", frozenset({"a", "b"})),)
    assert [problem.split(": ")[0] for problem in read.problems] == [
        f"{file}:{line}" for line in (2, 3, 4)
    ]


@pytest.mark.parametrize("name", ["tools.jsonl.gz", "tools"])
def test_gzip_is_known_by_its_content_and_a_byte_order_mark_is_no_text(
    tmp_path: Path, name: str
) -> None:
    file = tmp_path / name
    file.write_bytes(gzip.compress('\ufeff{"id": "ä", "name": "ä"}\n'.encode()))
    assert [spec.name for spec in read_tools(file).rows] == ["ä"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (None, "cannot be read: No such file or directory"),
        (gzip.compress(b"{}" * 999, mtime=0)[:-12], "cannot be read: Compressed file ended"),
        (b"", "holds no tools"),
        (b"{}\n" * 5, "and 2 more rows"),
    ],
)
def test_a_file_without_a_usable_row_is_refused_with_the_reason(
    tmp_path: Path, content: bytes | None, reason: str
) -> None:
    file = tmp_path / "tools.jsonl"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(ConfigurationError) as caught:
        read_tools(file)
    assert str(file) in str(caught.value)
    assert reason in str(caught.value)


def test_a_sample_is_the_same_in_every_order() -> None:
    queries = [Query(str(number), "find", frozenset("a")) for number in range(20)]
    assert sample(queries, 7) == sample(queries[::-1], 7)
    assert len(sample(queries, 7)) == 7
    assert set(sample(queries, 99)) == set(queries)


def test_answers_that_are_no_tools_are_known(tmp_path: Path) -> None:
    file = tmp_path / "tools.jsonl"
    file.write_text('{"id": "a", "name": "a"}')
    queries = [Query("1", "x", frozenset({"a", "b"})), Query("2", "x", frozenset({"b", "c"}))]
    assert unknown(queries, read_tools(file).rows) == {"b", "c"}
    assert unknown([], ()) == frozenset()


@pytest.mark.parametrize("name", SETS)
def test_the_shared_sets_are_read_without_a_problem(name: str) -> None:
    folder = shared_folder() / "data" / name
    tools, queries = read_tools(folder / "tools.jsonl.gz"), read_queries(folder / "dev.jsonl.gz")
    assert tools.problems == queries.problems == ()
    assert unknown(queries.rows, tools.rows) == frozenset()


def test_relevant_tools_may_be_called_by_name_id_or_server_and_tool() -> None:
    tools = [
        ToolSpec(source="git_hub", tool="issues.open", name="git_hub__issues_open"),
        ToolSpec(source="a b", tool="x/y", name="xy"),
        ToolSpec(source="c", tool="d", name="a b/x/y"),
    ]
    called = {
        "git_hub__issues_open": "git_hub__issues_open",
        "git_hub__issues.open": "git_hub__issues_open",
        "git_hub/issues.open": "git_hub__issues_open",
        "git hub/issues.open": "git_hub__issues_open",
        "a b/x/y": "a b/x/y",
        "a b__x/y": "xy",
        "gone/tool": "gone/tool",
    }
    queries = [Query("1", "q", frozenset({name})) for name in called]
    named = by_name(queries, tools)
    assert [query.relevant for query in named] == [frozenset({name}) for name in called.values()]
    assert unknown(named, tools) == {"gone/tool"}
