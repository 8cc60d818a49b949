"""`deferred-tools eval` and `deferred-tools search`, over real small files."""

import gzip
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from deferred_tools.cli.app import main, make_app
from tests.support.shared import shared_folder

TOOLS: list[dict[str, Any]] = [
    {"id": "mail/send", "name": "send", "description": "Send a letter", "server": "mail"},
    {"id": "mail/list", "name": "list", "description": "List letters", "server": "mail"},
    {"id": "clock/now", "name": "now", "description": "Tell the\n[bold]time\x1b[31m"},
]
QUERIES: list[dict[str, Any]] = [
    {"id": "1", "query": "send a letter", "relevant": ["mail/send"]},
    {"id": "2", "query": "tell the time", "relevant": ["clock/now"]},
]
KEYS = [
    "retriever", "queries", "ndcg@10", "recall@1", "recall@3", "recall@5", "recall@10", "mrr",
    "complete@5", "complete@10", "hit@1", "latency_us", "tokens_per_search",
]  # fmt: skip


def run(*arguments: str | Path) -> Result:
    return CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1"}).invoke(
        make_app(), [str(argument) for argument in arguments]
    )


def written(file: Path, rows: list[dict[str, Any]]) -> Path:
    text = "\n".join(map(json.dumps, rows)).encode()
    file.write_bytes(gzip.compress(text) if file.suffix == ".gz" else text)
    return file


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    return written(tmp_path / "tools.jsonl", TOOLS)


@pytest.fixture
def queries(tmp_path: Path) -> Path:
    return written(tmp_path / "queries.jsonl", QUERIES)


def test_json_is_one_object_per_retriever_with_the_promised_keys(
    tools: Path, queries: Path
) -> None:
    done = run("eval", "--tools", tools, queries, "--retriever", "bm25",
               "--retriever", "substring", "--json")  # fmt: skip
    assert (done.exit_code, done.stderr) == (0, "")
    bm25, substring = json.loads(done.stdout)
    assert list(bm25) == list(substring) == KEYS
    assert (bm25["retriever"], substring["retriever"]) == ("bm25", "substring")
    assert bm25["queries"] == 2
    assert {bm25[key] for key in KEYS[2:11]} == {1.0}
    assert substring["hit@1"] == 0.5
    assert set(bm25["latency_us"]) == {"p50", "p95"}
    assert bm25["tokens_per_search"] > 0


def test_bm25_is_measured_by_default_and_the_table_has_it_all(tools: Path, queries: Path) -> None:
    done = run("eval", queries, "--tools", tools)
    assert done.exit_code == 0
    assert "2 queries, 3 tools" in done.stdout
    for told in ("bm25", "ndcg@10", "complete@5", "search p95", "tokens per search", "1.000"):
        assert told in done.stdout


def test_gzipped_files_are_measured_as_plain_ones_are(tmp_path: Path) -> None:
    tools = written(tmp_path / "tools.jsonl.gz", TOOLS)
    queries = written(tmp_path / "queries.jsonl.gz", QUERIES)
    (found,) = json.loads(run("eval", "--tools", tools, queries, "--json").stdout)
    assert found["ndcg@10"] == 1


def test_a_limit_takes_some_of_the_queries(tools: Path, queries: Path) -> None:
    done = run("eval", "--tools", tools, queries, "--limit", "1", "--json")
    assert json.loads(done.stdout)[0]["queries"] == 1


def test_bad_rows_are_told_beside_the_result(tmp_path: Path, tools: Path) -> None:
    rows = [*QUERIES, {"id": "3", "query": "x"}, {"id": "4", "query": "x", "relevant": ["gone"]}]
    queries = written(tmp_path / "some.jsonl", rows)
    done = run("eval", "--tools", tools, queries, "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout)[0]["queries"] == 3
    assert f"Left out: {queries}:3: relevant: Field required" in done.stderr
    assert "1 relevant id(s), such as 'gone', are not among the tools" in done.stderr
    assert "in 1 of 3 queries" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["eval", "queries.jsonl", "--tools", "none.jsonl"], "none.jsonl cannot be read: No such"),
        (["eval", "tools.jsonl", "--tools", "tools.jsonl"], "tools.jsonl holds no queries"),
        (["search", "x", "--tools", "."], ". cannot be read: Is a directory"),
        (
            ["eval", "queries.jsonl", "--tools", "tools.jsonl", "--retriever", "magic"],
            "There is no retriever 'magic'. Choose one of: bm25",
        ),
        (["search", "x", "--tools", "tools.jsonl", "--retriever", "magic"], "'magic'"),
    ],
)
@pytest.mark.usefixtures("tools", "queries")
def test_what_cannot_be_used_is_one_message_and_exit_code_1(
    arguments: list[str],
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["deferred-tools", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 1
    output, error = capsys.readouterr()
    assert output == ""
    assert told in error
    assert "Traceback" not in error


def test_search_shows_rank_score_name_and_one_line(tools: Path) -> None:
    done = run("search", "letter", "--tools", tools)
    assert (done.exit_code, done.stderr) == (0, "")
    rows = [line.split(maxsplit=3) for line in done.stdout.splitlines()]
    assert [row[0] for row in rows] == ["1", "2"]
    assert {(row[2], row[3]) for row in rows} == {
        ("mail/send", "Send a letter"),
        ("mail/list", "List letters"),
    }
    assert float(rows[0][1]) >= float(rows[1][1]) > 0


def test_search_gives_json_and_keeps_to_its_limit(tools: Path) -> None:
    done = run("search", "letter", "--tools", tools, "--limit", "1", "--json",
               "--retriever", "keyword")  # fmt: skip
    (found,) = json.loads(done.stdout)
    assert list(found) == ["rank", "score", "name", "description"]
    assert found["rank"] == 1


def test_text_from_a_file_is_neither_mark_up_nor_control_code(tools: Path) -> None:
    done = run("search", "time", "--tools", tools)
    assert "Tell the [bold]time[31m" in done.stdout
    assert "\x1b" not in done.stdout


def test_a_search_that_finds_nothing_says_so(tools: Path) -> None:
    done = run("search", "xylophone", "--tools", tools)
    assert (done.exit_code, done.stdout) == (0, "")
    assert "None of 3 tools" in done.stderr
    assert json.loads(run("search", "xylophone", "--tools", tools, "--json").stdout) == []


def test_a_shared_set_is_measured() -> None:
    folder = shared_folder() / "data" / "shortmix"
    done = run("eval", "--tools", folder / "tools.jsonl.gz", folder / "dev.jsonl.gz", "--json")
    (found,) = json.loads(done.stdout)
    assert (found["queries"], done.stderr) == (262, "")
    assert found["ndcg@10"] > 0.6
