"""`deferred-tools lint`, over real small files and servers."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from deferred_tools.cli.lint import lint_command
from tests.support import command
from tests.support.command import DIES, app_of, configured, listing, written

GOOD = {"id": "a/send", "name": "send", "description": "Send a letter", "server": "a"}
WARNED = {**GOOD, "id": "a/find", "name": "find", "description": "Find a stamp " + "x " * 600}
BAD = {"id": "a/b.c", "name": "b.c", "description": "Break\n[bold]bread\x1b[31m", "server": "a"}


def run(*arguments: str | Path) -> Result:
    return command.run(*arguments, app=app_of(lint_command))


def tools(folder: Path, *rows: dict[str, Any]) -> Path:
    return written(folder / "tools.jsonl", list(rows))


def test_a_finding_says_what_is_wrong_with_which_tool_and_what_to_do(tmp_path: Path) -> None:
    done = run("--tools", tools(tmp_path, GOOD, WARNED, BAD))
    assert "Names that providers refuse: 1  error, refused-name\n" in done.stdout
    assert "  a/b.c: it contains '.', which OpenAI, Anthropic and Bedrock refuse\n" in done.stdout
    assert "Name tools with at most 64 ASCII letters" in done.stdout
    assert done.stdout.endswith("1 error(s), 1 warning(s) in 3 tools\n")
    assert "\x1b" not in done.stdout


def test_json_is_a_list_of_plain_objects(tmp_path: Path) -> None:
    (found,) = json.loads(run("--tools", tools(tmp_path, GOOD, BAD), "--json").stdout)
    assert list(found) == [
        "code", "severity", "server", "tool", "name", "problem", "others", "suggestion",
    ]  # fmt: skip
    assert (found["code"], found["server"], found["tool"]) == ("refused-name", "a", "b.c")
    assert json.loads(run("--tools", tools(tmp_path, GOOD), "--json").stdout) == []


@pytest.mark.parametrize(
    ("rows", "options", "code"),
    [
        ([GOOD], [], 0),
        ([GOOD, WARNED], [], 0),
        ([GOOD, WARNED], ["--fail-on", "warning"], 1),
        ([GOOD, BAD], [], 1),
        ([GOOD, BAD], ["--fail-on", "warning"], 1),
        ([GOOD, BAD], ["--fail-on", "never"], 0),
        ([GOOD, BAD], ["--ignore", "refused-name"], 0),
        ([GOOD, BAD], ["--select", "no-description, long-description"], 0),
        ([GOOD, BAD], ["--select", "refused-name", "--json"], 1),
        ([GOOD], ["--select", "no-such-code"], 2),
        ([GOOD], ["--retriever", "magic"], 2),
        ([GOOD], ["--config", "mcp.json"], 2),
    ],
)
def test_the_exit_code_tells_findings_from_none_and_from_what_cannot_run(
    rows: list[dict[str, Any]], options: list[str], code: int, tmp_path: Path
) -> None:
    assert run("--tools", tools(tmp_path, *rows), *options).exit_code == code


def test_a_file_that_cannot_be_read_is_one_message_and_not_a_finding() -> None:
    done = run("--tools", "none.jsonl")
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "none.jsonl cannot be read: No such file or directory.\n"


def test_many_findings_stay_readable_unless_all_are_wanted(tmp_path: Path) -> None:
    rows = [{"id": f"a/{n}", "name": f"n{n}", "server": "a"} for n in range(2_000)]
    file = tools(tmp_path, *rows)
    short = run("--tools", file, "--select", "no-description").stdout
    assert "Tools without a description: 2,000" in short
    assert "and 1,995 more (--all)" in short
    assert len(short.splitlines()) < 12
    whole = run("--tools", file, "--select", "no-description", "--all").stdout
    assert "more (--all)" not in whole
    assert len(whole.splitlines()) > 2_000


def test_configured_servers_are_looked_at_and_one_that_fails_costs_only_itself(
    tmp_path: Path,
) -> None:
    mail = listing({"name": "send"}, {"name": "list", "description": "List letters"})
    config = configured(tmp_path / "mcp.json", {"mail": mail, "dead": DIES})
    done = run("--config", config, "--json")
    (found,) = json.loads(done.stdout)
    assert (found["code"], found["name"]) == ("no-description", "mail__send")
    assert "dead: unavailable" in done.stderr
    assert done.exit_code == 1
