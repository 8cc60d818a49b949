"""The `mcpServers` JSON that people already have, read whole or refused with every problem."""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from deferred_tools.errors import ConfigurationError
from deferred_tools.sources.mcp.entry import Problem, nearest_key, read_entry
from deferred_tools.sources.mcp.positions import KeyPath, key_lines, syntax_problem
from deferred_tools.sources.mcp.server import McpServer
from deferred_tools.sources.mcp.source import McpSource

# Claude Desktop, Cursor and most others; VS Code.
_SERVER_KEYS = ("mcpServers", "servers")


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServers:
    """The MCP servers of one configuration; iterating gives a source for each, in its order.

    Reads the file that Claude Desktop, Cursor (`mcpServers`) or VS Code (`servers`) use:
    `command`, `args`, `env`, `cwd` for a local server; `url`, `headers` for a remote one
    (streamable HTTP); `type` where it is given. `${NAME}`, `${env:NAME}` and
    `${NAME:-default}` are filled in from the environment. Of our own, all optional:
    `namespace`, `timeout` (seconds for one call), `disabled`, `tags`, `allow` and `deny`
    (tool names: exact, `prefix*`, `*`).
    """

    servers: tuple[McpServer, ...] = ()

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file.

        Raises:
            ConfigurationError: It cannot be read or used; names every problem with its line.
        """
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
            document = json.loads(text)
        except FileNotFoundError:
            raise ConfigurationError(
                f"there is no file {os.fspath(path)!r}; create it, or give the path of "
                "the file with your MCP servers"
            ) from None
        except json.JSONDecodeError as error:
            raise ConfigurationError(f"{os.fspath(path)}, {syntax_problem(text, error)}") from None
        except (OSError, ValueError, RecursionError) as error:
            why = error.strerror if isinstance(error, OSError) else type(error).__name__
            raise ConfigurationError(f"{os.fspath(path)!r} cannot be read: {why}") from None
        return cls._read(document, os.fspath(path), tuple(key_lines(text)))

    @classmethod
    def from_dict(cls, mapping: Mapping[str, Any]) -> Self:
        """Read what such a file holds, already parsed.

        Raises:
            ConfigurationError: It cannot be used; names every problem with its key path.
        """
        return cls._read(mapping, "the MCP configuration", ())

    def __iter__(self) -> Iterator[McpSource]:
        return (McpSource(server) for server in self.servers)

    def __len__(self) -> int:
        return len(self.servers)

    @classmethod
    def _read(
        cls,
        document: object,
        origin: str,
        keys: tuple[tuple[KeyPath, int], ...],
    ) -> Self:
        servers, problems = _read_document(document, os.environ)
        problems += [
            (path, "is written more than once; keep one of them") for path in _repeated(keys)
        ]
        if problems:
            lines = dict(keys)
            told = "\n".join(f"  - {_tell(problem, lines)}" for problem in problems)
            raise ConfigurationError(f"{len(problems)} problem(s) in {origin}:\n{told}")
        return cls(servers=tuple(servers))


def _read_document(
    document: object, environ: Mapping[str, str]
) -> tuple[list[McpServer], list[Problem]]:
    if not isinstance(document, Mapping):
        return [], [((), 'must be an object with the key "mcpServers"')]
    present = [key for key in _SERVER_KEYS if key in document]
    if len(present) != 1:
        if present:
            return [], [((), f"has both {present[0]!r} and {present[1]!r}; keep one of them")]
        known = dict.fromkeys(_SERVER_KEYS)
        typos: list[Problem] = [((str(key),), nearest_key(str(key), known)) for key in document]
        near = [problem for problem in typos if problem[1]]
        return [], near or [((), 'has no key "mcpServers" (VS Code: "servers"); add it')]
    root = present[0]
    entries = document[root]
    if not isinstance(entries, Mapping):
        return [], [((root,), "must be an object: a key for each server")]
    servers: list[McpServer] = []
    problems: list[Problem] = []
    for name, entry in entries.items():
        server, found = read_entry(str(name), entry, environ)
        problems += [((root, str(name), *path), text) for path, text in found]
        if server is not None:
            servers.append(server)
    return servers, problems + _collisions(servers, root)


def _repeated(keys: tuple[tuple[KeyPath, int], ...]) -> list[KeyPath]:
    """The outermost keys that JSON would silently let the last of win."""
    twice = [path for path, count in Counter(path for path, _ in keys).items() if count > 1]
    return [path for path in twice if path[:-1] not in twice]


def _collisions(servers: list[McpServer], root: str) -> list[Problem]:
    first: dict[str, str] = {}
    problems: list[Problem] = []
    for server in servers:
        other = first.setdefault(server.namespace, server.name)
        if other != server.name:
            same = f"has the same namespace {server.namespace!r} as {other!r}"
            cure = 'set another "namespace" in one of them'
            problems.append(((root, server.name), f"{same}; {cure}"))
    return problems


def _tell(problem: Problem, lines: Mapping[KeyPath, int]) -> str:
    path, text = problem
    where = ".".join(str(step) for step in path)
    for length in range(len(path), 0, -1):
        if line := lines.get(path[:length]):
            return f"line {line}: {where}: {text}"
    return f"{where}: {text}" if where else text
