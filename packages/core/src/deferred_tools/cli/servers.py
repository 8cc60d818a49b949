"""The MCP servers of a file: all of them, or those that a command is about."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from deferred_tools.cli.signing_in import kept_sign_ins
from deferred_tools.documents.reading import read_document
from deferred_tools.errors import ConfigurationError

if TYPE_CHECKING:
    from deferred_tools.sources.mcp import McpServers


def all_servers(file: Path) -> "McpServers":
    """Every server of a file.

    Raises:
        ConfigurationError: Not all of it can be used; names every problem. Or there is no MCP.
    """
    return _kind().from_file(file, oauth=kept_sign_ins())


def sound_servers(file: Path) -> tuple["McpServers", ConfigurationError | None]:
    """The servers of a file that can be used, and the error that is about the others.

    Raises:
        ConfigurationError: Nothing of the file can be used. Or there is no MCP.
    """
    try:
        return all_servers(file), None
    except ConfigurationError as error:
        return _sound(file, error), error


def chosen_servers(file: Path, names: Sequence[str]) -> "McpServers":
    """Those of these names or namespaces, whatever is wrong with the others; all without names.

    Raises:
        ConfigurationError: One of them is not there, or cannot be used. Or there is no MCP.
    """
    if not names:
        return all_servers(file)
    sound, error = sound_servers(file)
    for name in names:
        if not any(name in (server.name, server.namespace) for server in sound.servers):
            known = [server.name for server in sound.servers]
            near = get_close_matches(name, known, 1)
            cure = f"did you mean {near[0]!r}?" if near else f"known are: {', '.join(known)}"
            told = f"{file} has no server {name!r} that can be used; {cure}"
            raise ConfigurationError(f"{told}\n{error}" if error else told)
    wanted = tuple(s for s in sound.servers if s.name in names or s.namespace in names)
    return replace(sound, servers=wanted)


def _sound(file: Path, whole: ConfigurationError) -> "McpServers":
    document, _ = read_document(file, suffix=".json")
    roots = [document[key] for key in ("mcpServers", "servers") if key in document]
    if len(roots) != 1 or not isinstance(roots[0], Mapping):
        raise whole
    sound, entries = _kind()(), dict[str, object]()
    for name, entry in roots[0].items():
        # With those before it, as two servers cannot have one namespace.
        with suppress(ConfigurationError):
            sound = _kind().from_dict({"mcpServers": {**entries, name: entry}})
            entries[name] = entry
    return replace(sound, oauth=kept_sign_ins())


def _kind() -> "type[McpServers]":
    try:
        # A command over a file needs neither the SDK nor the second that it takes to load.
        from deferred_tools.sources.mcp import McpServers  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"MCP servers need the module {error.name!r}, which is not installed: "
            'pip install "deferred-tools[mcp]"'
        ) from error
    return McpServers
