"""`deferred-tools doctor`, over real servers on stdio, and what it makes of a registry."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from deferred_tools.cli import diagnosis
from deferred_tools.cli.diagnosis import Start, clashes, diagnose
from deferred_tools.cli.doctor import doctor_command
from deferred_tools.lint.finding import Severity
from deferred_tools.registered import SourceView
from deferred_tools.registry import Registry
from deferred_tools.settings import Settings
from deferred_tools.sources.base import SourceState, SourceStatus
from deferred_tools.spec import Tier
from tests.support import command
from tests.support.command import DIES, app_of, configured, listing

pytestmark = pytest.mark.usefixtures("home")
SEND = {"name": "send", "description": "Send a letter"}
BARE = {"type": "object", "properties": {"names": {"type": "array", "description": "Whose"}}}
HOSTILE = "[bold]x\x1b[31m\u202e\n| y"


def run(*arguments: str | Path) -> Result:
    return command.run(*arguments, app=app_of(doctor_command))


def checked(done: Result) -> dict[str, Any]:
    """The servers of `--json`, by name."""
    return {one["server"]: one for one in json.loads(done.stdout)["servers"]}


def test_servers_that_work_are_told_with_time_protocol_and_tools(tmp_path: Path) -> None:
    servers = {"mail": listing(SEND), "off": {**DIES, "disabled": True}}
    config = configured(tmp_path / "mcp.json", servers)
    done = run("--config", config, "--json")
    assert (done.exit_code, done.stderr) == (0, "")
    whole = json.loads(done.stdout)
    assert (whole["file"], whole["error"], whole["problems"]) == (str(config), None, [])
    mail = checked(done)["mail"]
    assert 0 < mail.pop("seconds") < 60
    assert mail == {
        "server": "mail",
        "status": "ready",
        "protocol": "2025-11-25",
        "tools": 1,
        "problems": [],
    }
    lines = run("--config", config).stdout.splitlines()
    assert lines[0].startswith("mail  ready, 1 tools, ")
    assert lines[0].endswith(" s, MCP 2025-11-25")
    assert lines[1:] == ["off   disabled", "1 of 1 servers ready, 0 error(s), 0 warning(s)"]


def test_each_thing_that_is_wrong_is_told_with_its_cure(tmp_path: Path) -> None:
    broken = {"name": "broken", "inputSchema": {"$ref": "https://example.org/x"}}
    servers = {
        "mail": listing(SEND, {**SEND, "name": "send all", "inputSchema": BARE}, broken),
        "dead": DIES,
        "gone": {"command": "nosuchcommand"},
        "idle": listing(),
    }
    done = run("--config", configured(tmp_path / "mcp.json", servers), "--json")
    assert done.exit_code == 3
    found = {
        (server, problem["code"]): problem
        for server, one in checked(done).items()
        for problem in one["problems"]
    }
    assert list(found) == [
        ("mail", "listing"),
        ("mail", "refused-name"),
        ("mail", "array-without-items"),
        ("dead", "unavailable"),
        ("gone", "unavailable"),
        ("idle", "no-tools"),
    ]
    assert all(problem["cure"] for problem in found.values())
    assert "tool 'broken': left out" in found["mail", "listing"]["problem"]
    assert found["mail", "array-without-items"]["tool"] == "send all"
    assert "exited with code 3" in found["dead", "unavailable"]["problem"]
    assert "install it or correct `command`" in found["gone", "unavailable"]["problem"]
    assert found["idle", "no-tools"]["severity"] == "warning"


def test_problems_of_one_kind_are_shown_together_and_not_all_of_them(tmp_path: Path) -> None:
    tools = [{**SEND, "name": f"send {number}"} for number in range(7)]
    done = run("--config", configured(tmp_path / "mcp.json", {"mail": listing(*tools)}))
    assert done.exit_code == 3
    lines = done.stdout.splitlines()[1:-1]
    assert lines[0].startswith("  error: send 0: it contains ' '")
    assert [line.split(":")[0] for line in lines[:5]] == ["  error"] * 5
    assert lines[5] == "  and 2 more (--json)"
    assert lines[6].startswith("    Name tools with at most 64")
    assert len(lines) == 7


def test_an_entry_that_cannot_be_used_costs_only_itself(tmp_path: Path) -> None:
    servers = {
        "mail": listing(SEND),
        "bad": {"commandd": "x"},
        "lacks": {"command": "x", "env": {"KEY": "${SURELY_NOT_SET}"}},
        "ma.il": listing(SEND),
        "ma_il": listing(SEND),
    }
    config = configured(tmp_path / "mcp.json", servers)
    done = run("--config", config, "--json")
    assert done.exit_code == 3
    assert {name: one["status"] for name, one in checked(done).items()} == {
        "mail": "ready",
        "ma_il": "ready",
    }
    for output in (json.loads(done.stdout)["error"], run("--config", config).stdout):
        assert "mcpServers.bad.commandd: unknown key; did you mean 'command'?" in output
        assert "the environment variable 'SURELY_NOT_SET' is not set; set it" in output
        assert "has the same namespace 'ma_il'" in output


@pytest.mark.parametrize("text", [None, "", "{", "[]", '{"mcpServers": 1}'])
def test_a_file_that_cannot_be_used_is_told(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "mcp.json"
    if text is not None:
        file.write_text(text)
    done = run("--config", file)
    assert (done.exit_code, done.stdout) == (1, "")
    assert str(file) in done.stderr


def test_only_the_servers_that_are_named_are_checked(tmp_path: Path) -> None:
    config = configured(tmp_path / "mcp.json", {"mail": listing(SEND), "dead": DIES, "bad": {}})
    assert run("mail", "--config", config).exit_code == 0
    assert run("dead", "--config", config).exit_code == 3
    assert run("bad", "--config", config).exit_code == 1


def test_text_of_servers_is_data_and_secrets_are_not_shown(tmp_path: Path) -> None:
    dies = f"import os; raise SystemExit({HOSTILE!r} + os.environ['KEY'])"
    servers = {
        "mail": listing({"name": HOSTILE, "inputSchema": {**BARE, "title": HOSTILE}}),
        "dead": {**DIES, "args": ["-c", dies], "env": {"KEY": "canary-4711"}},
    }
    config = configured(tmp_path / "mcp.json", servers)
    for options in ((), ("--json",)):
        done = run("--config", config, *options)
        assert "[bold]x" in done.stdout
        assert not {"\x1b", "\u202e"} & set(done.output)
        assert "canary" not in done.output


def registry(*states: SourceState) -> Registry:
    """What sources in these states make."""
    views = [
        SourceView(name=f"s{at}", tier=Tier.MCP, state=state) for at, state in enumerate(states)
    ]
    return Registry.build(Settings(), views)


def test_every_state_that_is_not_well_has_a_cure() -> None:
    for status in SourceStatus:
        (one,) = diagnose(registry(SourceState(status=status)), {})
        if status is SourceStatus.DISABLED:
            assert one.problems == ()
        else:
            (problem,) = one.problems
            assert problem.cure
            assert problem.code == ("no-tools" if status is SourceStatus.READY else status.value)


def test_a_slow_start_is_a_warning() -> None:
    seconds = diagnosis.SLOW_SECONDS + 2.4
    (one,) = diagnose(
        registry(SourceState(status=SourceStatus.DISABLED)), {"s0": Start(seconds, "2025-11-25")}
    )
    (problem,) = one.problems
    assert (problem.code, problem.severity) == ("slow-start", Severity.WARNING)
    assert problem.problem == "it took 12 s to start"
    assert not one.failed


def test_what_is_told_of_a_server_is_not_told_again_between_servers() -> None:
    away = SourceState(status=SourceStatus.UNAVAILABLE, reason="why")
    odd = SourceState(status=SourceStatus.READY, warnings=("server 's1', tool 'x': left out",))
    assert clashes(registry(away, odd)) == []
