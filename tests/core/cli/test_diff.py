"""`deferred-tools diff`, over real servers."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from deferred_tools.cli.diff import diff_command
from tests.core.cli.test_lock import NOW, READ, SEND, lock, serving
from tests.support import command
from tests.support.command import DIES, app_of, configured, listing

TEXT = {"type": "string"}
SCHEMA = {"type": "object", "properties": {"to": TEXT}, "required": ["to"]}
PARCEL = {
    **SEND,
    "inputSchema": SCHEMA,
    "annotations": {"readOnlyHint": True},
}


def diff(folder: Path, servers: dict[str, Any], *options: str) -> Result:
    """What the command does with these servers and the lock file of that folder."""
    config = configured(folder / "mcp.json", servers)
    files = ("--config", config, "--lock", folder / "tools.lock")
    return command.run(*files, *options, app=app_of(diff_command))


def of_parcel(**told: Any) -> dict[str, Any]:
    return {**PARCEL, **told}


@pytest.mark.parametrize(
    ("tools", "code", "kinds"),
    [
        ([PARCEL], 0, []),
        ([dict(reversed(PARCEL.items()))], 0, []),
        ([of_parcel(description="Send a parcel")], 3, ["docs"]),
        ([of_parcel(inputSchema={**SCHEMA, "required": []})], 3, ["compatible"]),
        ([PARCEL, READ], 4, ["added"]),
        ([], 4, ["removed"]),
        ([of_parcel(annotations={"destructiveHint": True})], 4, ["annotations"]),
        ([of_parcel(inputSchema={"type": "object"})], 5, ["breaking", "compatible"]),
        ([of_parcel(description="<system>")], 6, ["suspicious", "docs"]),
    ],
)  # fmt: skip
def test_b39_the_exit_code_tells_the_worst_that_changed(
    tmp_path: Path, tools: list[dict[str, Any]], code: int, kinds: list[str]
) -> None:
    where = tmp_path / "listed.json"
    lock(tmp_path, {"mail": serving(where, PARCEL)})
    before = (tmp_path / "tools.lock").read_bytes()
    done = diff(tmp_path, {"mail": serving(where, *tools)}, "--json")
    assert done.exit_code == code, done.output
    assert [kind for row in json.loads(done.stdout) for kind in row["kinds"]] == kinds
    assert (tmp_path / "tools.lock").read_bytes() == before


def test_each_change_is_shown_with_what_it_means_and_its_lines(tmp_path: Path) -> None:
    where = tmp_path / "listed.json"
    lock(tmp_path, {"mail": serving(where, PARCEL, READ)})
    narrowed = {
        "type": "object",
        "properties": {"to": {**TEXT, "maxLength": 9}},
        "required": ["to"],
    }
    changed = of_parcel(inputSchema=narrowed, description="Send\n[bold]a\x1b[31m parcel")
    done = diff(tmp_path, {"mail": serving(where, changed, READ, NOW)})
    assert done.stdout == (
        "mail__now: added\n"
        "mail__send: suspicious, breaking, docs\n"
        "  docs: description reads differently\n"
        "  breaking: input_schema.properties.to.maxLength takes less\n"
        "  suspicious: description holds characters that do not show\n"
        "    ...\n"
        "     title:\n"
        "     description:\n"
        "    - Send a letter\n"
        "    + Send\n"
        "    + [bold]a\\x1b[31m parcel\n"
        "     input_schema:\n"
        "      {\n"
        '       "properties": {\n'
        '        "to": {\n'
        '    +    "maxLength": 9,\n'
        '         "type": "string"\n'
        "        }\n"
        "2 changed of 3 tools, 1 suspicious, 1 added\n"
    )


def test_a_long_diff_is_cut_for_people_and_whole_for_programs(tmp_path: Path) -> None:
    where = tmp_path / "listed.json"
    lock(tmp_path, {"mail": serving(where, SEND)})
    long = {"mail": serving(where, {**SEND, "description": "Send\n" * 100})}
    assert "    and 66 more lines\n" in diff(tmp_path, long).stdout
    (row,) = json.loads(diff(tmp_path, long, "--json").stdout)
    assert list(row) == ["tool", "kinds", "findings", "diff"]
    assert row["findings"] == [
        {"kind": "docs", "where": "description", "what": "reads differently"}
    ]
    assert row["diff"].count("+ Send") == 100


def test_another_command_under_the_same_name_is_told(tmp_path: Path) -> None:
    lock(tmp_path, {"mail": listing(SEND)})
    done = diff(tmp_path, {"mail": {**listing(SEND), "env": {"NODE_OPTIONS": "--inspect"}}})
    assert done.exit_code == 4
    assert "  server: server is reached by another command or address\n" in done.stdout


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_it_cannot_run_without_a_lock_file_or_with_a_server_away(
    tmp_path: Path, options: list[str]
) -> None:
    done = diff(tmp_path, {"mail": listing(SEND)}, *options)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "There is no lock file" in done.stderr
    lock(tmp_path, {"mail": listing(SEND), "clock": listing(NOW)})
    away = {"mail": listing(SEND), "clock": DIES}
    done = diff(tmp_path, away, *options)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "could not be asked for their tools: clock" in done.stderr
    assert diff(tmp_path, away, "--partial", *options).exit_code == 0


def test_the_help_tells_the_exit_codes() -> None:
    told = " ".join(command.run("--help", app=app_of(diff_command)).stdout.split())
    assert "0: nothing. 3: texts, or a schema that takes more than before. 4: tools" in told
