"""One MCP server as configured: values only, with every secret kept out of `repr`."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from deferred_tools.spec import ToolTag, one_line

_SHORTEST_SECRET = 4
_SHORTEST_PART = 8
_LONGEST_QUOTE = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A server that runs as a child process and speaks over its standard streams."""

    command: str = field(repr=False)
    args: tuple[str, ...] = field(default=(), repr=False)
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What the child gets besides the few variables that any program needs (PATH, HOME, ...)."""
    cwd: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthClient:
    """What is known beforehand of the client that signs in at a server; all of it optional."""

    id: str = ""
    """As whom it is registered; "" to register when it is needed."""
    secret: str = field(default="", repr=False)
    issuer: str = ""
    """The authorization server that it is registered with."""
    scopes: tuple[str, ...] = ()
    """What to ask for; none leaves it to the server."""
    port: int = 0
    """Where on this machine a browser is sent back to; 0 for any free port."""
    alone: bool = False
    """Whether it signs in as itself, with its secret, and no person is asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A server that is reached over streamable HTTP."""

    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    client: OAuthClient = OAuthClient()

    @property
    def has_credentials(self) -> bool:
        """Whether the configuration itself says with what to sign in."""
        return "authorization" in {name.lower() for name in self.headers} or (
            "@" in urlsplit(self.url).netloc
        )


@dataclass(frozen=True, kw_only=True)
class McpServer:
    """One entry of an `mcpServers` file, checked and with its variables expanded."""

    name: str
    """The key in the file."""
    namespace: str
    """First half of its tools' ids; unique among the servers of one file."""
    at: Command | Endpoint = field(repr=False)
    timeout: float | None = None
    """Seconds for one call; None leaves it to `Limits.call_seconds`."""
    disabled: bool = False
    tags: frozenset[ToolTag] = frozenset()
    """What every tool of this server can do to a conversation's safety."""
    allow: tuple[str, ...] = ("*",)
    """Patterns of tool names: exact, `prefix*` or `*`."""
    deny: tuple[str, ...] = ()
    """Patterns of names that are left out, allowed or not."""
    pinned: tuple[str, ...] = ()
    """Names of tools that a gateway offers directly."""
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    """Values of `env`, of `headers` and of expanded variables."""

    def admits(self, tool: str) -> bool:
        """Whether a tool of this name is wanted."""
        return _matches(tool, self.allow) and not _matches(tool, self.deny)

    def quote(self, text: str) -> str:
        """Foreign `text` as it may be shown: on one line, cut, without any secret."""
        return one_line(self.redact(text), _LONGEST_QUOTE)

    def redact(self, text: str) -> str:
        """`text` with every secret of this server replaced by `***`."""
        return self._secret.sub("***", text) if self.holds_secret(text) else text

    def holds_secret(self, text: str) -> bool:
        """Whether a secret of this server is in `text`; quick, however long that is."""
        return any(secret in text for secret in self._told)

    @cached_property
    def identity(self) -> str:
        """A hash of which server this is, to notice when it becomes another.

        Of a local one it is over what runs, where, and with which variables set; of a remote one
        over its address. Secrets, and so all values of variables, are left out: they may change.
        """
        at = self.at
        told: dict[str, Any] = {}
        if isinstance(at, Command):
            told["command"] = self.redact(at.command)
            told["args"] = [self.redact(arg) for arg in at.args]
            told["cwd"] = self.redact(at.cwd or "")
            told["env"] = sorted(at.env)
        else:
            told["url"] = self.redact(at.url)
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()

    @cached_property
    def _secret(self) -> re.Pattern[str]:
        return re.compile("|".join(map(re.escape, self._told)) or r"(?!)")

    @cached_property
    def _told(self) -> tuple[str, ...]:
        # A server may repeat only the token of "Bearer <token>", or one line of a key.
        parts = {part for value in self.secrets for part in value.split()}
        found = {value for value in self.secrets if len(value) >= _SHORTEST_SECRET}
        found |= {part for part in parts if len(part) >= _SHORTEST_PART}
        return tuple(sorted(found, key=len, reverse=True))


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(
        name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
        for pattern in patterns
    )
