"""`McpServers` reads what people have, or says everything that is wrong with it."""

import json
from pathlib import Path
from typing import Any

import pytest

from deferred_tools.errors import ConfigurationError
from deferred_tools.sources.mcp import McpServers
from deferred_tools.sources.mcp.server import Command, Endpoint
from deferred_tools.spec import Tier, ToolTag

CANARY = "canary-4f1c-secret"


def problems(servers: dict[str, Any]) -> str:
    with pytest.raises(ConfigurationError) as caught:
        McpServers.from_dict({"mcpServers": servers})
    return str(caught.value)


def test_a_file_gives_sources_in_its_order(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    servers = {
        "time": {"command": "mcp-server-time", "args": ["--utc"], "env": {"A": "1"}, "cwd": "x"},
        "My Git!": {"url": "https://h/mcp", "headers": {"X-Key": "k"}, "type": "http"},
        "off": {"command": "c", "disabled": True, "autoApprove": ["x"]},
    }
    file.write_text("\ufeff" + json.dumps({"mcpServers": servers, "globalShortcut": ""}))
    config = McpServers.from_file(file)
    assert [source.name for source in config] == ["time", "My_Git", "off"]
    assert {source.tier for source in config} == {Tier.MCP}
    assert len(config) == 3
    time, git, off = config.servers
    assert time.at == Command(command="mcp-server-time", args=("--utc",), env={"A": "1"}, cwd="x")
    assert git.at == Endpoint(url="https://h/mcp", headers={"X-Key": "k"})
    assert off.disabled


def test_a_file_of_vs_code_is_read_too(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text('{"inputs": [], "servers": {"a": {"type": "stdio", "command": "c"}}}')
    assert [source.name for source in McpServers.from_file(str(file))] == ["a"]


def test_own_keys_are_kept() -> None:
    entry = {
        "command": "c",
        "namespace": "short",
        "timeout": 5,
        "tags": ["egress", "sensitive"],
        "allow": ["read_*", "exact"],
        "deny": ["read_secret*"],
    }
    (server,) = McpServers.from_dict({"mcpServers": {"a long name": entry}}).servers
    assert (server.namespace, server.timeout) == ("short", 5.0)
    assert server.tags == {ToolTag.EGRESS, ToolTag.SENSITIVE}
    admitted = ["read_file", "read_secret_file", "exact", "exactly", "write_file"]
    assert [name for name in admitted if server.admits(name)] == ["read_file", "exact"]


def test_variables_are_expanded_everywhere_they_may_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DT_ONE", "one")
    monkeypatch.delenv("DT_NONE", raising=False)
    servers = {
        "a": {
            "command": "${DT_ONE}/bin",
            "args": ["--x=${env:DT_ONE}", "$DT_ONE", "${DT_NONE:-two}"],
            "env": {"E": "${DT_ONE}${DT_ONE}"},
            "cwd": "/${DT_ONE}",
        },
        "b": {"url": "https://h/${DT_ONE}", "headers": {"H": "Bearer ${DT_ONE}"}},
    }
    a, b = McpServers.from_dict({"mcpServers": servers}).servers
    assert a.at == Command(
        command="one/bin", args=("--x=one", "$DT_ONE", "two"), env={"E": "oneone"}, cwd="/one"
    )
    assert b.at == Endpoint(url="https://h/one", headers={"H": "Bearer one"})


def test_what_a_disabled_server_would_need_may_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DT_NONE", raising=False)
    entry = {"url": "${DT_NONE}", "headers": {"H": "${DT_NONE}"}, "disabled": True}
    assert len(McpServers.from_dict({"mcpServers": {"a": entry}})) == 1


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({}, 'neither "command" (a local server) nor "url"'),
        ({"command": ""}, 'neither "command"'),
        ({"command": "c", "url": "https://h"}, 'both "command" and "url"; keep one'),
        ([], "mcpServers.a: must be an object, not an array"),
        (None, "must be an object, not null"),
        ({"command": ["c"]}, "mcpServers.a.command: must be a string, not an array"),
        ({"command": "c", "args": "x"}, "args: must be an array, not a string"),
        ({"command": "c", "args": ["x", 1]}, "args.1: must be a string, not a number"),
        ({"command": "c", "env": {"PORT": 80}}, "env.PORT: must be a string, not a number"),
        ({"command": "c", "env": ["A=1"]}, "env: must be an object, not an array"),
        ({"command": "c", "cwd": 1}, "cwd: must be a string"),
        ({"command": "c", "timeout": "5"}, "timeout: must be a number, not a string"),
        ({"command": "c", "timeout": True}, "timeout: must be a number, not a boolean"),
        ({"command": "c", "timeout": 0}, "timeout: must be greater than 0"),
        ({"command": "c", "disabled": "no"}, "disabled: must be true or false, not a string"),
        ({"command": "c", "tags": ["evil"]}, "tags.0: must be one of 'untrusted_input'"),
        ({"command": "c", "allow": ["*_x"]}, "allow.0: must be a name, 'prefix*' or '*'"),
        ({"command": "c", "deny": [""]}, "deny.0: must be a name, 'prefix*' or '*'"),
        ({"comand": "c"}, "comand: unknown key; did you mean 'command'?"),
        ({"command": "c", "zzz": 1}, "zzz: unknown key; known are 'type', 'command'"),
        ({"serverUrl": "https://h"}, "serverUrl: unknown key; use 'url' instead"),
        ({"command": "c", "envFile": "x"}, "envFile: unknown key; use 'env' instead"),
        ({"url": "h/mcp"}, "url: must be a whole http:// or https:// address"),
        ({"url": "ftp://h/mcp"}, "url: must be a whole http:// or https:// address"),
        ({"url": "https://h:x/"}, "url: must be a whole http:// or https:// address"),
        ({"url": "https://h", "type": "sse"}, "type: the old SSE transport is not supported"),
        ({"url": "https://h", "type": "ws"}, "type: must be 'stdio' or 'http', not 'ws'"),
        ({"url": "https://h", "type": "stdio"}, "type: 'stdio' does not fit 'url'"),
        ({"command": "c", "type": "http"}, "type: 'http' does not fit 'command'"),
        ({"command": "c", "headers": {"A": "b"}}, "headers: means nothing beside 'command'"),
        ({"url": "https://h", "env": {"A": "b"}}, "env: means nothing beside 'url'"),
        ({"command": "${DT_NONE}"}, "command: the environment variable 'DT_NONE' is not set"),
        ({"command": "c", "args": ["${input:x}"]}, "args.0: holds a ${...} that is not known"),
        ({"url": "https://h", "headers": {"A": "b\n"}}, "headers.A: its value has a line break"),
    ],
)
def test_a_wrong_entry_is_named_with_its_cure(entry: object, told: str) -> None:
    text = problems({"a": entry})
    assert "1 problem(s) in the MCP configuration" in text
    assert "mcpServers.a" in text
    assert told in text


def test_every_problem_of_a_file_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(
        """{
          "mcpServers": {
            "one": {"command": "c",
              "arg": ["a, {", "]"]},
            "two": {
              "url": "https://h",
              "headers": {"A": "${DT_NONE}"}
            },
            "three": {"command": "c"},
            "three!": {"command": "c"},
            "名": {"command": "c"},
            "three": {"command": "d"}
          }
        }"""
    )
    with pytest.raises(ConfigurationError) as caught:
        McpServers.from_file(file)
    unset = "the environment variable 'DT_NONE' is not set; set it, or write a default"
    empty = 'its name leaves nothing for ids (`a-z A-Z 0-9 _ -`); set `"namespace"`'
    same = "has the same namespace 'three' as 'three'; set another \"namespace\" in one of them"
    again = "is written more than once, first on line 9; keep one of them"
    assert str(caught.value).splitlines() == [
        f"5 problem(s) in {file}:",
        "  - line 4: mcpServers.one.arg: unknown key; did you mean 'args'?",
        f"  - line 7: mcpServers.two.headers.A: {unset}",
        f"  - line 10: mcpServers.three!: {same}",
        f"  - line 11: mcpServers.名: {empty}",
        f"  - line 12: mcpServers.three: {again}",
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "the file is empty; write what it is to hold"),
        ('{"mcpServers": {\n}, }', "line 2, column 4: a trailing comma; remove"),
        ('{"mcpServers": {"a": {"args": [1,\n]}}}', "line 2, column 1: a trailing comma"),
        ('{\n // mine\n "mcpServers": {}}', "line 2, column 2: JSON has no comments"),
        ('{"mcpServers": {} /* end */}', "line 1, column 19: JSON has no comments"),
        ('{"mcpServers" {}}', "line 1, column 15: not valid JSON: Expecting ':' delimiter"),
        ("[]", "must be an object (keys and their values), not an array"),
        ('{"mcpServer": {}}', "line 1: mcpServer: unknown key; did you mean 'mcpServers'?"),
        ('{"x": 1}', 'has no key "mcpServers"'),
        ('{"mcpServers": [], "servers": {}}', "has both 'mcpServers' and 'servers'"),
        ('{"mcpServers": []}', "mcpServers: must be an object: a key for each server"),
        ("[" * 100_000, "nested deeper than 100 levels"),
    ],
)
def test_a_file_that_cannot_be_used_says_where_and_why(
    tmp_path: Path, text: str, told: str
) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(text)
    with pytest.raises(ConfigurationError) as caught:
        McpServers.from_file(file)
    assert str(file) in str(caught.value)
    assert told in str(caught.value)


def test_a_missing_or_unreadable_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"there is no file .*nowhere\.json"):
        McpServers.from_file(tmp_path / "nowhere.json")
    with pytest.raises(ConfigurationError, match="cannot be read: Is a directory"):
        McpServers.from_file(tmp_path)
    (tmp_path / "latin").write_bytes(b'{"\xff": 1}')
    with pytest.raises(ConfigurationError, match="cannot be read: line 1 is not UTF-8"):
        McpServers.from_file(tmp_path / "latin")


def test_secrets_stay_out_of_errors_and_reprs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DT_TOKEN", CANARY)
    good = {
        "a": {"command": "c", "args": ["${DT_TOKEN}"], "env": {"K": f"lit-{CANARY}"}},
        "b": {"url": "https://h/${DT_TOKEN}?k=${DT_TOKEN}", "headers": {"H": CANARY}},
    }
    config = McpServers.from_dict({"mcpServers": good})
    assert CANARY not in repr(config)
    assert CANARY not in repr(list(config))
    bad = {
        "a": {"command": "c", "env": {"K": f"{CANARY}${{DT_NONE}}", "L": [CANARY]}},
        "b": {"url": "${DT_TOKEN}", "headers": {"H": f"{CANARY}\n", "I": "${" + CANARY + "!}"}},
        "c": {"command": "c", "timeout": CANARY, "tags": [CANARY], "allow": f"{CANARY}"},
    }
    assert CANARY not in problems(bad)
