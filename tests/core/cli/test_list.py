"""`deferred-tools list`, over real servers on stdio."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from deferred_tools.cli.list import list_command
from tests.support import command
from tests.support.command import DIES, app_of, configured, listing

pytestmark = pytest.mark.usefixtures("home")
SEND = {"name": "send", "description": "Send a letter. It goes by post."}
LONG = {"name": "look_for_letters", "description": "Find letters", "title": "Look"}
HOSTILE = "[bold]x\x1b[31m\u202e\n| y"


def run(*arguments: str | Path) -> Result:
    return command.run(*arguments, app=app_of(list_command))


def test_tools_are_listed_by_server_a_line_each(tmp_path: Path) -> None:
    config = configured(tmp_path / "mcp.json", {"mail": listing(SEND, LONG), "post": listing(SEND)})
    done = run("--config", config)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "mail  2 tools",
        "  send              Send a letter.",
        "  look_for_letters  Find letters",
        "post  1 tool",
        "  send  Send a letter.",
        "3 tools of 2 servers",
    ]


def test_json_holds_texts_and_schemas_verbatim(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"to": {"type": "string"}}, "x-odd": [1]}
    tool = {"name": "s.end", "description": HOSTILE, "inputSchema": schema}
    done = run("--config", configured(tmp_path / "mcp.json", {"my mail": listing(tool)}), "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout) == [
        {
            "server": "my_mail",
            "tool": "s.end",
            "name": "my_mail__s_end",
            "description": HOSTILE,
            "parameters": schema,
            "tags": [],
            "available": True,
        }
    ]


def test_a_server_that_is_away_is_told_and_costs_only_itself(tmp_path: Path) -> None:
    servers = {"mail": listing(SEND), "dead": DIES, "off": {**DIES, "disabled": True}}
    config = configured(tmp_path / "mcp.json", servers)
    done = run("--config", config)
    assert done.exit_code == 3
    assert "dead  unavailable: the connection was closed; it exited with code 3" in done.stdout
    assert "off  disabled: disabled in its configuration" in done.stdout
    assert "1 tool of 3 servers" in done.stdout
    assert len(json.loads(run("--config", config, "--json").stdout)) == 1


def test_only_the_servers_that_are_named_are_started(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    servers = {"my mail": listing(SEND), "post": listing(SEND, pids=pids), "bad": {"cmd": "x"}}
    config = configured(tmp_path / "mcp.json", servers)
    for name in ("my mail", "my_mail"):
        done = run(name, "--config", config)
        assert (done.exit_code, done.stdout.splitlines()[0]) == (0, "my_mail  1 tool")
    assert not pids.exists()


@pytest.mark.parametrize(
    ("name", "told"),
    [("mial", "no server 'mial' that can be used; did you mean 'mail'?"), ("bad", "unknown key")],
)
def test_a_server_that_is_not_there_or_not_sound_is_told(
    tmp_path: Path, name: str, told: str
) -> None:
    config = configured(tmp_path / "mcp.json", {"mail": listing(SEND), "bad": {"cmd": "x"}})
    done = run(name, "--config", config)
    assert (done.exit_code, done.stdout) == (1, "")
    assert told in done.stderr


def test_text_of_servers_is_data(tmp_path: Path) -> None:
    servers = {
        "mail": listing({"name": HOSTILE, "description": HOSTILE}),
        "dead": {**DIES, "args": ["-c", f"raise SystemExit({HOSTILE!r})"]},
    }
    done = run("--config", configured(tmp_path / "mcp.json", servers))
    assert "[bold]x[31m | y  [bold]x[31m" in done.stdout
    assert not {"\x1b", "\u202e"} & set(done.output)


def test_settings_decide_what_is_listed(tmp_path: Path) -> None:
    config = configured(tmp_path / "mcp.json", {"mail": listing(SEND, LONG)})
    settings = tmp_path / "tools.json"
    settings.write_text(json.dumps({"servers": {"mail": {"namespace": "post", "deny": ["look*"]}}}))
    done = run("--config", config, "--settings", settings)
    assert done.stdout.splitlines() == [
        "post  1 tool",
        "  send  Send a letter.",
        "1 tool of 1 server",
    ]


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"mcpServers": []}', "// x\n{}"])
def test_a_file_that_cannot_be_used_is_told(tmp_path: Path, text: str) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(text)
    for arguments in ((), ("mail",)):
        done = run(*arguments, "--config", file)
        assert (done.exit_code, done.stdout) == (1, "")
        assert str(file) in done.stderr


@pytest.mark.parametrize(
    "kept",
    [
        {"globalShortcut": "", "mcpServers": {"mail": {}}},
        {"mcpServers": {"mail": {"type": "stdio"}}},
        {"inputs": [{"id": "key", "type": "promptString"}], "servers": {"mail": {"gallery": True}}},
    ],
    ids=["Claude Desktop", "Cursor", "VS Code"],
)
def test_the_files_of_each_editor_are_taken_as_they_are(
    tmp_path: Path, kept: dict[str, Any]
) -> None:
    servers = kept.get("mcpServers") or kept["servers"]
    servers["mail"] |= listing(SEND)
    file = tmp_path / "mcp.json"
    file.write_text(json.dumps(kept, indent="\t"))
    assert run("--config", file).exit_code == 0
    assert run("mail", "--config", file).exit_code == 0


def test_without_a_file_the_editors_is_used_and_that_is_told(home: Path) -> None:
    folder = home / ".cursor"
    folder.mkdir()
    config = configured(folder / "mcp.json", {"mail": listing(SEND)})
    done = run()
    assert (done.exit_code, done.stderr) == (
        0,
        f"Using the servers of Cursor: {config} (another: --config)\n",
    )
