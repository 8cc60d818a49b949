"""What a shell completes, asked as a shell asks."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from deferred_tools.cli.completion import remember
from deferred_tools.cli.list import list_command
from deferred_tools.spec import ToolSpec
from tests.support import command
from tests.support.command import app_of, configured, listing

pytestmark = pytest.mark.thorough

RUN = "from deferred_tools.cli.main import run; run()"
ENTRY_POINTS = """[deferred_tools.commands]
call = deferred_tools.cli.call:call_command
list = deferred_tools.cli.list:list_command
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder from which the commands are installed, whatever is installed besides."""
    installed = tmp_path / "installed"
    info = installed / "commands-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: commands\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    return installed


def completed(folder: Path, *words: str) -> list[str]:
    """What bash is told for these words, the last of which is not finished."""
    done = subprocess.run(
        [sys.executable, "-c", RUN],
        env={
            **os.environ,
            "PYTHONPATH": str(folder),
            "_DEFERRED_TOOLS_COMPLETE": "complete_bash",
            "COMP_WORDS": " ".join(["deferred-tools", *words]),
            "COMP_CWORD": str(len(words)),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_commands_and_options_are_completed(home: Path, folder: Path) -> None:
    assert completed(folder, "ca") == ["call"]
    assert "--config" in completed(folder, "call", "--co")


def test_servers_of_the_file_are_completed_and_none_is_started(
    home: Path, folder: Path, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    servers = {"mail": listing(pids=pids), "market": listing(pids=pids), "bad": {"cmd": "x"}}
    config = str(configured(tmp_path / "mcp.json", servers))
    assert completed(folder, "call", "--config", config, "ma") == ["mail/", "market/"]
    assert completed(folder, "list", "--config", config, "mar") == ["market"]
    assert not pids.exists()


def test_tools_are_completed_that_list_has_seen(home: Path, folder: Path, tmp_path: Path) -> None:
    (home / ".cursor").mkdir()
    servers = {"mail": listing({"name": "send"}, {"name": "seek"}, {"name": "find"})}
    config = configured(home / ".cursor" / "mcp.json", servers)
    assert completed(folder, "call", "") == ["mail/"]
    assert command.run("--config", config, app=app_of(list_command)).exit_code == 0
    assert completed(folder, "call", "mail/se") == ["mail/send", "mail/seek"]
    config.unlink()
    assert completed(folder, "call", "mail/se") == []


def test_a_name_that_a_shell_would_run_is_not_completed(
    home: Path, folder: Path, tmp_path: Path
) -> None:
    config = tmp_path / "mcp.json"
    names = ["$(id)", "a b", "a;b", "`id`", "a\nb", "x*", "good/one", "~root"]
    remember(config, [ToolSpec(source="s", tool=name) for name in names])
    assert completed(folder, "call", "--config", str(config), "") == ["s/good/one"]


def test_a_memory_that_cannot_be_read_or_written_is_no_matter(
    home: Path, folder: Path, tmp_path: Path
) -> None:
    (home / "settings").write_text("no folder")
    config = configured(tmp_path / "mcp.json", {"mail": listing()})
    remember(config, [])
    assert completed(folder, "call", "--config", str(config), "") == ["mail/"]
    (tmp_path / "broken.json").write_text("{")
    assert completed(folder, "call", "--config", str(tmp_path / "broken.json"), "") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_can_be_installed(folder: Path, shell: str, home: Path) -> None:
    shown = subprocess.run(
        [sys.executable, "-c", RUN, "--show-completion", shell],
        env={**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "_DEFERRED_TOOLS_COMPLETE" in shown.stdout, shown.stderr


def test_what_is_remembered_holds_names_alone(home: Path, tmp_path: Path) -> None:
    remember(tmp_path / "mcp.json", [ToolSpec(source="s", tool="t", description="secret")])
    (memory,) = (home / "settings" / "deferred-tools" / "names").iterdir()
    assert json.loads(memory.read_text()) == ["s/t"]
