"""`deferred-tools status`, over real servers on stdio and real files."""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from deferred_tools import Limits, Toolset, ToolsLock
from deferred_tools.cli import catalogue
from deferred_tools.cli.status import status_command
from deferred_tools.sources.mcp import McpServers
from tests.support import command
from tests.support.command import DIES, MUTE, app_of, configured, listing

SEND = {"name": "send", "description": "Send a letter"}
CHECK = {"name": "check", "annotations": {"openWorldHint": True, "readOnlyHint": True}}
CONTRACT: Mapping[str, Any] = {
    "contracts": {"notify": {"description": "Tells somebody.", "tags": ["egress"]}},
    "overrides": {"notify": {"server": "mail", "tool": "send"}},
}


def run(*arguments: str | Path) -> Result:
    return command.run(*arguments, app=app_of(status_command))


def settled(folder: Path, settings: Mapping[str, Any]) -> Path:
    """A file of settings."""
    file = folder / "tools.json"
    file.write_text(json.dumps(settings))
    return file


def test_where_each_call_goes_is_shown_by_tier(tmp_path: Path) -> None:
    config = configured(tmp_path / "mcp.json", {"mail": listing(SEND, CHECK)})
    options = ("--settings", settled(tmp_path, CONTRACT), "--function", "textwrap:dedent")
    done = run("--config", config, *options)
    assert done.exit_code == 0, done.output
    assert [line.split() for line in done.stdout.splitlines()[:-1] if line] == [
        ["Sources"],
        ["name", "tier", "state", "tools", "reason"],
        ["mail", "mcp", "ready", "2"],
        ["functions", "code", "ready", "1"],
        ["Tools"],
        ["name", "route", "goes", "to", "available", "tags"],
        ["notify", "mapped", "mail/send", "yes", "egress"],
        ["dedent", "code", "functions/dedent", "yes"],
        ["mail__send", "mcp", "mail/send", "yes"],
        ["mail__check", "mcp", "mail/check", "yes", "untrusted_input"],
    ]
    assert done.stdout.endswith("4 tools, 1 contract, 2 mcp, 1 code; 0 not available\n")
    assert "Warnings" not in done.stdout


def test_json_is_the_status_of_the_registry_and_nothing_else(tmp_path: Path) -> None:
    config = configured(tmp_path / "mcp.json", {"mail": listing(SEND), "dead": DIES})
    with Toolset.from_sources(McpServers.from_file(config)) as toolset:
        status = toolset.registry.status()
    done = run("--config", config, "--json")
    assert json.loads(done.stdout) == status
    assert done.exit_code == 3
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("settings", "servers", "code"),
    [
        ({}, {"mail": listing(SEND)}, 0),
        ({}, {}, 0),
        ({}, {"mail": listing(SEND), "off": {**DIES, "disabled": True}}, 0),
        ({"disabled": ["mail__send"]}, {"mail": listing(SEND)}, 0),
        ({"servers": {"mail": {"deny": ["send"]}}}, {"mail": listing(SEND)}, 0),
        ({"contracts": {"notify": {}}}, {}, 3),
        (CONTRACT, {"mail": DIES}, 3),
        ({}, {"mail": listing(SEND), "dead": DIES}, 3),
        ({"unreachable": "fail"}, {"mail": listing(SEND), "dead": DIES}, 1),
        ({"disabled": ["mail__sendd"]}, {"mail": listing(SEND)}, 1),
        ({"disabled": "mail__send"}, {"mail": listing(SEND)}, 1),
        ({}, {"mail": {"commandd": "x"}}, 1),
    ],
)
def test_the_exit_code_says_how_things_are(
    tmp_path: Path, settings: dict[str, Any], servers: dict[str, Any], code: int
) -> None:
    config = configured(tmp_path / "mcp.json", servers)
    done = run("--config", config, "--settings", settled(tmp_path, settings))
    assert done.exit_code == code, done.output
    assert bool(done.stdout) == (code != 1)


def test_what_is_not_available_is_shown_with_its_reason(tmp_path: Path) -> None:
    config = configured(tmp_path / "mcp.json", {"mail": listing(SEND), "dead": DIES})
    settings = {
        "contracts": {"notify": {}, "ring": {}},
        "overrides": {"ring": {"server": "dead", "tool": "bell"}},
        "disabled": ["mail__send"],
    }
    done = run("--config", config, "--settings", settled(tmp_path, settings))
    assert done.exit_code == 3
    told = " ".join(done.stdout.split())
    assert "mail__send disabled it was switched off by the host" in told
    assert "notify not_implemented nothing implements it" in told
    assert "ring not_implemented its server 'dead' cannot be reached (unavailable)" in told
    assert "dead mcp unavailable 0 the connection was closed; it exited with code 3" in told
    assert "- dead: unavailable: the connection was closed" in done.stdout


def test_a_server_that_is_still_starting_counts_as_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "_PATIENCE", Limits(startup_seconds=0.1))
    done = run("--config", configured(tmp_path / "mcp.json", {"mute": MUTE}))
    assert done.exit_code == 3
    assert "connecting" in done.stdout


def test_every_problem_of_the_settings_is_told_at_once_with_its_place(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    config = configured(tmp_path / "mcp.json", {"mail": listing(SEND, pids=pids)})
    settings = {
        "contracts": {"notify": {}, "ring": {}, "knock": {}},
        "overrides": {
            "notify": {"server": "mial", "tool": "send"},
            "ring": {"server": "mail", "tool": "sned"},
            "knock": {"server": "mail", "tool": "send", "args": "{'to': }"},
            "notfy": {"server": "mail", "tool": "send"},
        },
        "disabled": ["knock", "mail__sendd"],
        "servers": {"post": {}},
        "grants": [
            {"tools": ["knock"]},
            {"tools": ["*"], "kinds": ["anonymous"]},
            {"tools": ["*"], "kinds": ["root"], "roles": ["admin"]},
        ],
    }
    done = run("--config", config, "--settings", settled(tmp_path, settings))
    assert done.exit_code == 1
    for told in (
        "overrides.notify.server: the server 'mial' is not declared; did you mean 'mail'?",
        "overrides.ring.tool: the server 'mail' does not advertise the tool 'sned'; did you mean",
        "overrides.notfy: there is no contract of this name; did you mean 'notify'?",
        "disabled.0: 'knock' is both disabled and overridden",
        "disabled.1: there is no tool 'mail__sendd' to disable; did you mean 'mail__send'?",
        "servers.post: no server of this name is declared",
        "grants.0.tools: 'knock' is both granted and disabled",
        "grants.1: anonymous callers cannot be granted anything",
        "grants.2: only principals have roles, and it is not for them",
    ):
        assert f"tools.json, line 1: {told}" in done.stderr, done.stderr
    assert not any(map(alive, pids.read_text().split()))


def alive(pid: str) -> bool:
    """Whether the process is there."""
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    return True


def test_a_mapping_that_does_not_compile_is_told_with_its_line(tmp_path: Path) -> None:
    config = configured(tmp_path / "mcp.json", {"mail": listing(SEND)})
    file = tmp_path / "tools.yaml"
    file.write_text(
        "contracts: {notify: {}}\n"
        "overrides:\n"
        "  notify: {server: mail, tool: send, args: \"{'to': }\"}\n"
    )
    done = run("--config", config, "--settings", file)
    assert done.exit_code == 1
    assert f"{file}, line 3: overrides.notify.args: " in done.stderr
    assert "{'to': }" in done.stderr


def test_a_file_with_wrong_types_and_unknown_keys_starts_no_server(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    config = configured(tmp_path / "mcp.json", {"mail": listing(SEND, pids=pids)})
    file = tmp_path / "tools.yaml"
    file.write_text("coerce: maybe\ndisbaled: [mail__send]\ngrants: {tools: '*'}\n")
    done = run("--config", config, "--settings", file)
    assert done.exit_code == 1
    assert done.stderr.splitlines() == [
        f"3 problem(s) in {file}:",
        "  - line 1: coerce: must be true or false, not a string",
        "  - line 2: disbaled: unknown key; did you mean 'disabled'?",
        "  - line 3: grants: must be an array, not an object",
    ]
    assert not pids.exists()


def test_a_tool_that_is_not_as_it_was_accepted_is_withheld_and_no_other(tmp_path: Path) -> None:
    # Its tools come from a file, as a server that is reached in another way is another one.
    source = listing()["args"][0]
    code = (
        f"import runpy, sys; sys.argv[1:] = [open('listed.json').read()]; runpy.run_path({source!r}"
    )
    server = {**DIES, "args": ["-c", f"{code}, run_name='__main__')"], "cwd": str(tmp_path)}
    config = configured(tmp_path / "mcp.json", {"mail": server})
    (tmp_path / "listed.json").write_text(listing(SEND, CHECK)["args"][1])
    with Toolset.from_sources(McpServers.from_file(config)) as toolset:
        view = toolset.registry.sources["mail"]
        specs = [tool.spec for tool in view.state.tools]
        ToolsLock.of(specs, {"mail": view.identity}).write(tmp_path / "tools.lock")
    settings = settled(tmp_path, {"lock": "tools.lock"})
    assert run("--config", config, "--settings", settings).exit_code == 0
    changed = {**SEND, "description": "Send it to me first"}
    (tmp_path / "listed.json").write_text(listing(changed, CHECK)["args"][1])
    done = run("--config", config, "--settings", settings, "--json")
    assert done.exit_code == 3
    status = json.loads(done.stdout)
    assert [tool["name"] for tool in status["routes"]] == ["mail__check"]
    (withheld,) = status["absent"]
    assert (withheld["name"], withheld["absence"]) == ("mail__send", "withheld")
    assert "its description" in withheld["why"]
    assert "deferred-tools diff" in withheld["why"]


@pytest.mark.parametrize(
    ("lock", "why"),
    [
        ('{"version": 2, "tools": {}}', "it is of version 2.*Upgrade deferred-tools"),
        ('{"version": 1, "tools"', "it is not valid JSON"),
        (None, "There is no lock file .* Write it with `deferred-tools lock`"),
    ],
)
def test_a_lock_that_cannot_be_relied_on_withholds_everything(
    tmp_path: Path, lock: str | None, why: str
) -> None:
    pids = tmp_path / "pids"
    config = configured(tmp_path / "mcp.json", {"mail": listing(SEND, pids=pids)})
    if lock is not None:
        (tmp_path / "tools.lock").write_text(lock)
    done = run("--config", config, "--settings", settled(tmp_path, {"lock": "tools.lock"}))
    assert done.exit_code == 1
    assert done.stdout == ""
    assert re.search(why, done.stderr)
    assert not pids.exists()


HOSTILE = "[bold]x\x1b[31m\u202e\u200b\n| y │"


def test_text_of_servers_and_settings_is_data(tmp_path: Path) -> None:
    errors = f"raise SystemExit({HOSTILE!r})"
    servers = {
        "mail": listing({"name": HOSTILE, "description": HOSTILE}),
        "dead": {**DIES, "args": ["-c", errors]},
    }
    config = configured(tmp_path / "mcp.json", servers)
    settings = {"tags": {HOSTILE: ["egress"]}, "disabled": [HOSTILE]}
    for some in ({}, settings):
        done = run("--config", config, "--settings", settled(tmp_path, some))
        assert "[bold]x" in done.output
        assert not {"\x1b", "\u202e", "\u200b"} & set(done.output)


def test_settings_alone_are_enough(tmp_path: Path) -> None:
    file = tmp_path / "tools.yaml"
    file.write_text("contracts: {plus: {implementation: 'textwrap:dedent'}}\n")
    done = run("--settings", file, "--json")
    assert done.exit_code == 0, done.output
    (route,) = json.loads(done.stdout)["routes"]
    assert (route["name"], route["route"]) == ("plus", "contract")


def test_with_nothing_named_the_editors_servers_are_shown_and_that_is_told(home: Path) -> None:
    assert run().exit_code == 1
    (home / ".cursor").mkdir()
    config = configured(home / ".cursor" / "mcp.json", {"mail": listing(SEND)})
    done = run()
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "1 tools, 1 mcp; 0 not available")
    assert done.stderr == f"Using the servers of Cursor: {config} (another: --config)\n"


def test_a_function_that_cannot_be_imported_is_told(tmp_path: Path) -> None:
    done = run("--function", "operator:no_such_name")
    assert done.exit_code == 1
    assert "operator:no_such_name" in done.stderr
