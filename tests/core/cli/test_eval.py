"""`deferred-tools eval`, over real small files and servers."""

import json
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from deferred_tools.cli.app import main
from tests.support.command import DIES, TOOLS, configured, listing, run, written
from tests.support.shared import shared_folder

QUERIES: list[dict[str, Any]] = [
    {"id": "1", "query": "send a letter", "relevant": ["mail/send"]},
    {"id": "2", "query": "tell the time", "relevant": ["clock/now"]},
]
KEYS = [
    "retriever", "queries", "ndcg@10", "recall@1", "recall@3", "recall@5", "recall@10", "mrr",
    "complete@5", "complete@10", "hit@1", "latency_us", "tokens_per_search",
]  # fmt: skip


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
    for told in (
        "bm25",
        "ndcg@10",
        "95 % between",
        "1.000 - 1.000",
        "complete@5",
        "search p95",
        "tokens per search",
        "1.000",
    ):
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
        (
            ["eval", "queries.jsonl", "--tools", "tools.jsonl", "--plot", "none/plot.svg"],
            "plot.svg cannot be written: No such file",
        ),
        (["search", "x", "--config", "none.json"], "there is no file 'none.json'"),
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


def test_configured_servers_are_measured_and_one_that_fails_costs_only_itself(
    tmp_path: Path,
) -> None:
    git = listing(
        {"name": "issues.open", "description": "Open an issue"},
        {"name": "close", "description": "Close an issue"},
    )
    config = configured(tmp_path / "mcp.json", {"git hub": git, "dead": DIES})
    called = ["git hub/issues.open", "git_hub/issues.open", "git_hub__issues_open"]
    rows = [
        {"id": name, "query": "open an issue", "relevant": [name]}
        for name in (*called, "git_hub__issues.open")
    ]
    queries = written(tmp_path / "queries.jsonl", rows)
    done = run("eval", queries, "--config", config, "--json")
    (found,) = json.loads(done.stdout)
    assert (found["queries"], found["hit@1"]) == (4, 1)
    assert "dead: unavailable" in done.stderr
    assert "not among the tools" not in done.stderr


def test_the_tools_come_from_one_place(queries: Path) -> None:
    done = run("eval", queries, "--tools", "tools.jsonl", "--config", "mcp.json")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "give one of them" in done.stderr


def test_without_either_the_editors_servers_are_taken_and_that_is_told(
    queries: Path, home: Path
) -> None:
    assert "no editor has one" in str(run("eval", queries).exception)
    (home / ".cursor").mkdir()
    config = configured(home / ".cursor" / "mcp.json", {"dead": DIES})
    done = run("eval", queries)
    assert f"Using the servers of Cursor: {config}" in done.stderr
    assert "dead: unavailable" in done.stderr


def test_servers_without_any_tool_cannot_be_measured(tmp_path: Path, queries: Path) -> None:
    config = configured(tmp_path / "mcp.json", {"dead": DIES})
    done = run("eval", queries, "--config", config)
    assert "No server of" in str(done.exception)
    assert "dead: unavailable" in done.stderr


def test_a_retriever_of_ones_own_is_measured_beside_ours(tools: Path, queries: Path) -> None:
    own = "deferred_tools.retrievers.keyword:KeywordRetriever"
    done = run("eval", queries, "--tools", tools, "--retriever", own, "--retriever", "keyword",
               "--json")  # fmt: skip
    mine, keyword = json.loads(done.stdout)
    assert (mine["retriever"], mine["ndcg@10"]) == (own, keyword["ndcg@10"])


def test_a_plot_has_every_retriever(tmp_path: Path, tools: Path, queries: Path) -> None:
    plot = tmp_path / "plot.svg"
    done = run("eval", queries, "--tools", tools, "--retriever", "bm25", "--retriever", "keyword",
               "--plot", plot, "--json")  # fmt: skip
    assert len(json.loads(done.stdout)) == 2
    told = list(ElementTree.fromstring(plot.read_text()).itertext())  # noqa: S314 - our own text
    assert {"bm25", "keyword"} <= set(told)


def test_a_shared_set_is_measured() -> None:
    folder = shared_folder() / "data" / "shortmix"
    done = run("eval", "--tools", folder / "tools.jsonl.gz", folder / "dev.jsonl.gz", "--json")
    (found,) = json.loads(done.stdout)
    assert (found["queries"], done.stderr) == (262, "")
    assert found["ndcg@10"] > 0.6
