"""`deferred-tools call`, over real servers on stdio."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from deferred_tools.cli.call import call_command
from tests.support import command
from tests.support.command import DIES, app_of, configured, listing
from tests.support.servers import raw

pytestmark = pytest.mark.usefixtures("home")
HOSTILE = "[bold]x\x1b[2J\u202e\r\n| y\rz \u2714\ufe0f"


def run(*arguments: str | Path) -> Result:
    return command.run(*arguments, app=app_of(call_command))


def echo(schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A server whose tool `echo` gives back the arguments that it got."""
    server = listing({"name": "echo", "inputSchema": schema})
    script = json.loads(server["args"][1]) | {"calls": {"echo": "echo"}} | more
    return {**server, "args": [server["args"][0], json.dumps(script)]}


def properties(**of: str) -> dict[str, Any]:
    return {"type": "object", "properties": {name: {"type": kind} for name, kind in of.items()}}


def gives(result: dict[str, Any]) -> dict[str, Any]:
    """A server whose tool `do` answers so."""
    return raw(tools={"do": {"result": result}})


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


@pytest.mark.parametrize("name", ["my mail/echo", "my_mail/echo", "my_mail__echo", "echo"])
def test_a_tool_is_found_by_its_server_and_name_or_by_what_models_see(
    tmp_path: Path, name: str
) -> None:
    config = configured(tmp_path / "mcp.json", {"my mail": echo(properties(a="string"))})
    done = run(name, "a=b=c", "--config", config, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["structuredContent"] == {"a": "b=c"}


def test_values_are_read_from_text_where_the_schema_wants_them(tmp_path: Path) -> None:
    schema = properties(n="integer", yes="boolean", list="array", text="string", odd="string")
    config = configured(tmp_path / "mcp.json", {"s": echo(schema)})
    pairs = ("n=3", "yes=true", 'list=["a", 1]', "text=3", "odd=-")
    done = run("s/echo", *pairs, "--config", config, "--json")
    assert json.loads(done.stdout)["structuredContent"] == {
        "n": 3,
        "yes": True,
        "list": ["a", 1],
        "text": "3",
        "odd": "-",
    }
    assert "n: text read as an integer" in done.stderr


@pytest.mark.parametrize("way", ["text", "file", "input"])
def test_arguments_are_taken_as_json(tmp_path: Path, way: str) -> None:
    config = configured(tmp_path / "mcp.json", {"s": echo({"type": "object"})})
    wanted = {"a": {"b": [1, None, "ü"]}}
    file = tmp_path / "arguments.json"
    file.write_text(json.dumps(wanted, ensure_ascii=False), encoding="utf-8")
    given = {"text": json.dumps(wanted), "file": f"@{file}", "input": "@-"}[way]
    done = CliRunner().invoke(
        app_of(call_command),
        ["s/echo", "--args", given, "--config", str(config), "--json"],
        input=file.read_text(encoding="utf-8"),
    )
    assert json.loads(done.stdout)["structuredContent"] == wanted


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["a"], "'a' is not KEY=VALUE"),
        (["=a"], "'=a' is not KEY=VALUE"),
        (["a=1", "a=2"], "'a' is given twice"),
        (["a=1", "--args", "{}"], "give either it or KEY=VALUE"),
        (["--args", "{"], "it is not valid JSON: line 1, column 2"),
        (["--args", "[]"], "it must be a JSON object"),
        (["--args", "@nosuchfile"], "'nosuchfile' cannot be read"),
    ],
)
def test_arguments_that_cannot_be_read_start_nothing(
    tmp_path: Path, arguments: list[str], told: str
) -> None:
    pids = tmp_path / "pids"
    config = configured(tmp_path / "mcp.json", {"s": echo({}, pids=str(pids))})
    done = run("s/echo", *arguments, "--config", config)
    assert (done.exit_code, done.stdout) == (2, "")
    assert told in " ".join(done.stderr.replace("│", " ").split())
    assert not pids.exists()


def test_arguments_that_do_not_fit_are_refused_with_the_reason(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger"
    schema = {**properties(n="integer"), "required": ["n", "m"]}
    config = configured(tmp_path / "mcp.json", {"s": echo(schema, ledger=str(ledger))})
    done = run("s/echo", "n=many", "--config", config, "--json")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "missing 'm'" in done.stderr
    assert "n: expected an integer" in done.stderr
    assert "echo" not in ledger.read_text()


def test_texts_are_shown_and_all_else_is_named(tmp_path: Path) -> None:
    content = [
        text("a letter\n  with two lines"),
        {"type": "image", "mimeType": "image/png", "data": "AAAA"},
        {"type": "audio", "mimeType": "audio/wav", "data": "AAAAAAAA"},
        {"type": "resource_link", "name": "report", "uri": "file:///r.txt"},
        {"type": "resource", "resource": {"uri": "x://y", "mimeType": "text/plain", "text": "abc"}},
        {"type": "new[bold]\x1b"},
    ]
    config = configured(tmp_path / "mcp.json", {"s": gives({"content": content})})
    assert run("s/do", "--config", config).stdout.splitlines() == [
        "a letter",
        "  with two lines",
        "[image, image/png, 3 bytes]",
        "[audio, audio/wav, 6 bytes]",
        "[resource_link, report, file:///r.txt]",
        "[resource, x://y, text/plain, 3 characters]",
        "[new[bold]]",
    ]


def test_structured_content_is_shown_where_there_is_no_other(tmp_path: Path) -> None:
    both = {"structuredContent": {"a": 1}, "content": [text("one")]}
    servers = {"s": gives({"structuredContent": {"a": "ü"}}), "t": gives(both)}
    config = configured(tmp_path / "mcp.json", servers)
    assert run("s/do", "--config", config).stdout == '{\n  "a": "ü"\n}\n'
    assert run("t/do", "--config", config).stdout == "one\n"


def test_json_is_the_whole_result_verbatim(tmp_path: Path) -> None:
    result = {
        "content": [text(HOSTILE), {"type": "image", "mimeType": "x", "data": "AAAA", "odd": 1}],
        "structuredContent": {"a": [1.5, None]},
        "isError": False,
        "_meta": {"k": HOSTILE},
    }
    config = configured(tmp_path / "mcp.json", {"s": gives(result)})
    done = run("s/do", "--config", config, "--json")
    assert json.loads(done.stdout) == result
    assert done.stdout.isascii()


def test_text_of_a_result_is_data(tmp_path: Path) -> None:
    config = configured(tmp_path / "mcp.json", {"s": gives({"content": [text(HOSTILE)]})})
    done = run("s/do", "--config", config)
    assert done.stdout == "[bold]x\\x1b[2J\\u202e\n| y\\rz \u2714\ufe0f\n"


def test_a_tool_that_failed_is_told_by_the_exit_code(tmp_path: Path) -> None:
    config = configured(
        tmp_path / "mcp.json", {"s": gives({"content": [text("no such letter")], "isError": True})}
    )
    done = run("s/do", "--config", config)
    assert (done.exit_code, done.stdout) == (3, "no such letter\n")
    done = run("s/do", "--config", config, "--json")
    assert (done.exit_code, json.loads(done.stdout)["isError"]) == (3, True)


@pytest.mark.parametrize(
    ("server", "name", "told"),
    [
        (DIES, "s/do", "the connection was closed; it exited with code 3"),
        (DIES, "do", "the connection was closed; it exited with code 3"),
        ({"command": "nosuchcommand"}, "s/do", "the command 'nosuchcommand' was not found"),
        (raw(tools={"do": "die"}), "s/do", "It may have had an effect"),
        ({**raw(tools={"do": "silence"}), "timeout": 0.2}, "s/do", "did not answer within 0.2 s"),
    ],
)
def test_a_server_that_cannot_be_reached_has_an_exit_code_of_its_own(
    tmp_path: Path, server: dict[str, Any], name: str, told: str
) -> None:
    done = run(name, "--config", configured(tmp_path / "mcp.json", {"s": server}))
    assert (done.exit_code, done.stdout) == (4, "")
    assert told in done.stderr


def test_of_a_server_that_is_named_no_other_is_started_nor_has_to_be_sound(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    servers = {"s": echo({}), "t": listing(pids=pids), "bad": {"cmd": "x"}}
    config = configured(tmp_path / "mcp.json", servers)
    for name in ("s/echo", "s__echo"):
        assert run(name, "--config", config).exit_code == 0
    assert not pids.exists()


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("s/ecko", "There is no tool 's__ecko'; did you mean 's__echo'"),
        ("nothing", "There is no tool 'nothing'; `deferred-tools list` shows what there is"),
        ("both", "Several servers have a tool 'both': use one of 's__both', 't__both'"),
        ("off/echo", "disabled in its configuration"),
    ],
)
def test_a_name_that_means_no_tool_or_several_is_refused(
    tmp_path: Path, name: str, told: str
) -> None:
    both = {"name": "both"}
    servers = {
        "s": listing({"name": "echo"}, both),
        "t": listing(both),
        "off": {**DIES, "disabled": True},
    }
    done = run(name, "--config", configured(tmp_path / "mcp.json", servers))
    assert (done.exit_code, done.stdout) == (4 if name.startswith("off") else 1, "")
    assert told in done.stderr


def test_settings_decide_what_can_be_called(tmp_path: Path) -> None:
    config = configured(tmp_path / "mcp.json", {"s": echo({}), "t": echo({})})
    settings = tmp_path / "tools.json"
    settings.write_text(
        json.dumps(
            {
                "contracts": {"say": {}},
                "overrides": {"say": {"server": "s", "tool": "echo"}},
                "servers": {"s": {"namespace": "post"}},
                "disabled": ["t__echo"],
                "grants": [{"tools": ["say"], "kinds": ["root"]}],
            }
        )
    )
    options = ("--config", config, "--settings", settings)
    done = run("say", "a=1", *options, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["structuredContent"] == {"a": "1"}
    for name, told in (
        ("s/echo", "'post__echo' is not granted to callers of the kind 'root'"),
        ("post/echo", "'post__echo' is not granted to callers of the kind 'root'"),
        ("t/echo", "'t__echo' cannot be called: it was switched off by the host"),
    ):
        done = run(name, *options)
        assert (done.exit_code, done.stdout) == (1, "")
        assert told in done.stderr
