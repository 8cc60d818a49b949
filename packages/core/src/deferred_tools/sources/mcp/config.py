"""The `mcpServers` JSON that people already have, read whole or refused with every problem."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from deferred_tools.documents.origin import Origin, Problem
from deferred_tools.documents.problems import nearest_key
from deferred_tools.documents.reading import read_document
from deferred_tools.sources.mcp.entry import read_entry
from deferred_tools.sources.mcp.oauth import OAuth
from deferred_tools.sources.mcp.server import McpServer
from deferred_tools.sources.mcp.source import McpSource

# Claude Desktop, Cursor and most others; VS Code.
_SERVER_KEYS = ("mcpServers", "servers")


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServers:
    """The MCP servers of one configuration; iterating gives a source for each, in its order.

    Reads the file that Claude Desktop, Cursor (`mcpServers`) or VS Code (`servers`) use:
    `command`, `args`, `env`, `cwd` for a local server; `url`, `headers` for a remote one
    (streamable HTTP), `oauth` (how to sign in there); `type` where it is given. `${NAME}`,
    `${env:NAME}` and `${NAME:-default}` are filled in from the environment. Of our own, all
    optional: `namespace`, `timeout` (seconds for one call), `disabled`, `tags`, `allow` and `deny`
    (tool names: exact, `prefix*`, `*`), `pinned` (names of tools that the gateway shows directly).
    """

    servers: tuple[McpServer, ...] = ()
    oauth: OAuth = field(default_factory=OAuth)
    """How to sign in where a server wants it. As it is, tokens are kept in memory, and nobody is
    asked for any."""

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], *, oauth: OAuth | None = None) -> Self:
        """Read a file.

        Raises:
            ConfigurationError: It cannot be read or used; names every problem with its line.
        """
        return cls._read(*read_document(path, suffix=".json"), oauth)

    @classmethod
    def from_dict(cls, mapping: Mapping[str, Any], *, oauth: OAuth | None = None) -> Self:
        """Read what such a file holds, already parsed.

        Raises:
            ConfigurationError: It cannot be used; names every problem with its key path.
        """
        return cls._read(mapping, Origin(called="the MCP configuration"), oauth)

    def __iter__(self) -> Iterator[McpSource]:
        return (McpSource(server, self.oauth) for server in self.servers)

    def __len__(self) -> int:
        return len(self.servers)

    @classmethod
    def _read(cls, document: object, origin: Origin, oauth: OAuth | None) -> Self:
        servers, problems = _read_document(document, os.environ)
        if problems or origin.repeated:
            raise origin.error(problems)
        return cls(servers=tuple(servers), oauth=oauth or OAuth())


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
