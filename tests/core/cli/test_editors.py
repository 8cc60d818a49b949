"""The files that editors keep, and when one of them is used."""

import json
from pathlib import Path

import pytest

from deferred_tools.cli.editors import servers_file
from deferred_tools.errors import ConfigurationError


def kept(file: Path, text: str = '{"mcpServers": {}}') -> Path:
    """A file that an editor wrote."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


@pytest.mark.parametrize(
    ("editor", "place", "text"),
    [
        ("Cursor", ".cursor/mcp.json", '{"mcpServers": {}}'),
        ("VS Code", "settings/Code/User/mcp.json", '{"servers": {}}'),
        ("Claude Desktop", "settings/Claude/claude_desktop_config.json", '{"mcpServers": {}}'),
    ],
)
def test_the_only_file_of_an_editor_is_used_and_that_is_told(
    home: Path, capsys: pytest.CaptureFixture[str], editor: str, place: str, text: str
) -> None:
    file = kept(home / place, text)
    assert servers_file(None) == file
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == f"Using the servers of {editor}: {file} (another: --config)\n"


@pytest.mark.parametrize(
    ("platform", "place"),
    [
        ("darwin", "Library/Application Support/Claude/claude_desktop_config.json"),
        ("win32", "AppData/Roaming/Claude/claude_desktop_config.json"),
    ],
)
def test_each_system_has_its_own_places(
    home: Path, monkeypatch: pytest.MonkeyPatch, platform: str, place: str
) -> None:
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.delenv("APPDATA", raising=False)
    file = kept(home / place)
    assert servers_file(None) == file


def test_a_named_file_is_used_whatever_editors_keep(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept(home / ".cursor/mcp.json")
    assert servers_file(Path("mine.json")) == Path("mine.json")
    assert capsys.readouterr().err == ""


def test_of_several_none_is_chosen(home: Path) -> None:
    files = [kept(home / ".cursor/mcp.json"), kept(home / "settings/Code/User/mcp.json")]
    with pytest.raises(ConfigurationError, match="Name the one you mean with --config") as error:
        servers_file(None)
    assert all(str(file) in str(error.value) for file in files)


def test_without_any_the_places_are_told(home: Path) -> None:
    with pytest.raises(ConfigurationError, match="Name one with --config") as error:
        servers_file(None)
    assert str(home / ".cursor" / "mcp.json") in str(error.value)


def test_a_file_without_servers_does_not_count(home: Path) -> None:
    kept(home / "settings/Claude/claude_desktop_config.json", json.dumps({"theme": "dark"}))
    file = kept(home / ".cursor/mcp.json")
    assert servers_file(None) == file


def test_a_file_in_the_folder_that_a_command_runs_in_is_left_alone(
    home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cloned = tmp_path / "cloned"
    for name in ("mcp.json", ".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json"):
        kept(cloned / name)
    monkeypatch.chdir(cloned)
    with pytest.raises(ConfigurationError, match="no editor has one"):
        servers_file(None)
