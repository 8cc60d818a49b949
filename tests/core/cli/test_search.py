"""`deferred-tools search`, over real small files and servers."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from deferred_tools.retrievers.explanation import Explanation, Term
from deferred_tools.retrievers.keyword import KeywordRetriever
from tests.support.command import DIES, TOOLS, configured, listing, run, written


class Explaining(KeywordRetriever):
    """Explains what it finds in words that are data, too."""

    def explain(self, query: str, names: Sequence[str]) -> list[Explanation]:
        terms = (Term("letter", "letter", ("name", "description"), 1.5), Term("send", query, (), 1))
        parts = (("words", 2.5), ("[red]server\x1b", 0.25))
        return [Explanation(name=name, score=2.75, parts=parts, terms=terms) for name in names]


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    return written(tmp_path / "tools.jsonl", TOOLS)


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


def test_configured_servers_are_searched_and_leave_no_process(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    mail = listing({"name": "send", "description": "Send a letter"}, pids=pids)
    config = configured(tmp_path / "mcp.json", {"mail": mail, "dead": DIES})
    done = run("search", "send a letter", "--config", config, "--json")
    assert [row["name"] for row in json.loads(done.stdout)] == ["mail__send"]
    assert "dead: unavailable" in done.stderr
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids.read_text().split())


def test_a_score_is_explained_by_its_parts_and_words(tools: Path) -> None:
    done = run("search", "letter", "--tools", tools, "--explain", "--retriever",
               f"{__name__}:Explaining")  # fmt: skip
    lines = [line.split(maxsplit=1) for line in done.stdout.splitlines()[1:5]]
    assert lines == [
        ["2.50", "words"],
        ["0.25", "[red]server"],
        ["1.50", "letter (in name, description)"],
        ["1.00", "letter → send"],
    ]


def test_an_explanation_is_in_the_json_when_it_is_asked_for(tools: Path) -> None:
    options = ["--tools", str(tools), "--json", "--retriever", f"{__name__}:Explaining"]
    (first, *_) = json.loads(run("search", "letter", *options, "--explain").stdout)
    assert first["parts"][0] == {"label": "words", "value": 2.5}
    assert first["terms"][0] == {
        "term": "letter", "said": "letter", "fields": ["name", "description"], "weight": 1.5,
    }  # fmt: skip
    assert "parts" not in json.loads(run("search", "letter", *options).stdout)[0]


def test_a_retriever_that_does_not_explain_says_so(tools: Path) -> None:
    done = run("search", "letter", "--tools", tools, "--explain", "--retriever", "keyword")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "'keyword' cannot explain" in done.stderr


def test_settings_decide_which_tools_of_servers_are_searched_and_their_names(
    tmp_path: Path,
) -> None:
    tools = [{"name": name, "description": f"{name} a letter"} for name in ("send", "burn")]
    config = configured(tmp_path / "mcp.json", {"mail": listing(*tools)})
    settings = tmp_path / "tools.yaml"
    settings.write_text(
        "contracts: {post: {description: Post a letter.}}\n"
        "overrides: {post: {server: mail, tool: send}}\n"
        "servers: {mail: {namespace: letters, deny: [burn]}}\n"
    )
    done = run("search", "letter", "--config", config, "--settings", settings, "--json")
    assert {row["name"] for row in json.loads(done.stdout)} == {"post", "letters__send"}


def test_settings_for_a_file_of_tools_are_refused(tools: Path, tmp_path: Path) -> None:
    done = run("search", "letter", "--tools", tools, "--settings", tmp_path / "tools.yaml")
    assert done.exit_code == 2
    assert "--config" in done.stderr
