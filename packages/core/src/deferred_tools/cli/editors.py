"""The file of MCP servers that this user's editor keeps, for commands that are given none.

Only files in the user's own folders are looked for. One in the folder that a command runs in may
come with somebody else's repository, and to read it is to run what it says.
"""

import os
import sys
from pathlib import Path

from deferred_tools.cli.output import tell
from deferred_tools.errors import ConfigurationError

_HOLDS = ('"mcpServers"', '"servers"')


def servers_file(named: Path | None) -> Path:
    """The file that is `named`, else the only one that an editor keeps; that is told.

    Raises:
        ConfigurationError: None is named, and there is none or more than one.
    """
    if named is not None:
        return named
    found = kept_files()
    if not found:
        raise ConfigurationError(
            f"No file of servers was named, and no editor has one. Looked at:{_listed(_places())}\n"
            "Name one with --config."
        )
    if len(found) > 1:
        raise ConfigurationError(
            f"No file of servers was named, and several editors have one:{_listed(found)}\n"
            "Name the one you mean with --config."
        )
    ((editor, file),) = found.items()
    tell(f"Using the servers of {editor}: {file} (another: --config)", style="yellow")
    return file


def kept_files() -> dict[str, Path]:
    """The files that there are, by the editor whose they are."""
    return {editor: file for editor, file in _places().items() if _has_servers(file)}


def _places() -> dict[str, Path]:
    """Where each editor keeps its servers for this user."""
    home = Path.home()
    if sys.platform == "darwin":
        settings = home / "Library" / "Application Support"
    elif sys.platform == "win32":
        settings = Path(os.environ.get("APPDATA") or home / "AppData" / "Roaming")
    else:
        settings = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    return {
        "Claude Desktop": settings / "Claude" / "claude_desktop_config.json",
        "Cursor": home / ".cursor" / "mcp.json",
        "VS Code": settings / "Code" / "User" / "mcp.json",
    }


def _has_servers(file: Path) -> bool:
    """Whether it is there and speaks of servers; Claude Desktop has the file without any, too."""
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return any(key in text for key in _HOLDS)


def _listed(files: dict[str, Path]) -> str:
    return "".join(f"\n  - {editor}: {file}" for editor, file in files.items())
