"""What a host decides about its tools, as one value: from Python, or from a file.

Knows shapes only. Whether a server or a tool that it names exists, the registry finds out.
"""

import os
import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    StrictBool,
    field_validator,
)

from deferred_tools.documents.origin import Origin
from deferred_tools.documents.problems import validated
from deferred_tools.documents.reading import read_document
from deferred_tools.errors import ConfigurationError
from deferred_tools.policy import AgentTools, Caller, CallerKind, Grant
from deferred_tools.spec import Pattern, ToolTag


class OnUnreachable(StrEnum):
    """What to do at the start about a server that cannot be reached."""

    WARN = "warn"
    """Start; what needs it is unavailable until it is there, and a warning says so."""
    FAIL = "fail"
    """Do not start."""


class Trifecta(StrEnum):
    """What to do about the tool that would complete the three tags in a conversation."""

    REFUSE = "refuse"
    ASK = "ask"
    """Ask the host: by an interrupt, or by whatever the adapter offers."""
    OFF = "off"


_TOKEN_HASH = re.compile(r"[0-9a-f]{64}")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)


class Contract(_Part):
    """A tool that the host defines. Its name is the key it is under."""

    title: str = ""
    description: str = ""
    input: dict[str, Any] = {"type": "object", "properties": {}}
    """JSON Schema of the arguments."""
    output: dict[str, Any] | None = None
    """JSON Schema of the structured result."""
    tags: tuple[ToolTag, ...] = ()
    aliases: tuple[str, ...] = ()
    implementation: Any = None
    """A function, an import string, a Tool or a framework's tool. None: only an override maps it
    to a server's tool, and until one does it is unavailable."""


class Override(_Part):
    """Maps a contract to a tool of an MCP server."""

    server: str
    """The server's name, as its source has it."""
    tool: str
    """The tool's own name."""
    args: str | None = None
    """CEL over `args` and `ctx`, giving the tool's arguments; None: the contract's as they are."""
    result: str | None = None
    """CEL over `result`, giving the contract's output; None: structured content, else the text
    as JSON, else the text."""


class ServerSettings(_Part):
    """What holds for one source; its tools are named by their own names here."""

    namespace: str | None = None
    """In place of the source's name, before `__` in its tools' names."""
    tags: tuple[ToolTag, ...] = ()
    allow: tuple[Pattern, ...] = ("*",)
    deny: tuple[Pattern, ...] = ()
    required: StrictBool = False
    """Do not start without it, whatever `unreachable` says."""


def _server_and_tool(text: str) -> str:
    server, _, tool = text.partition("/")
    if not (server and tool):
        raise ValueError('must be "server/tool", by their own names')
    return text


class GatewayClient(_Part):
    """Who somebody is that shows a token to the gateway; see `Caller`."""

    kind: CallerKind = CallerKind.PRINCIPAL
    name: str = ""
    roles: tuple[str, ...] = ()
    allow: tuple[Pattern, ...] | None = None
    agent: str = ""

    @property
    def caller(self) -> Caller:
        """The caller as policies know it."""
        return Caller(
            kind=self.kind, name=self.name, roles=self.roles, allow=self.allow, agent=self.agent
        )


class GatewaySettings(_Part):
    """What holds for the gateway (`deferred-tools serve`) alone."""

    pinned: tuple[Annotated[str, AfterValidator(_server_and_tool)], ...] = ()
    """`server/tool`, by their own names: offered to clients directly, besides the search."""
    tokens: dict[str, GatewayClient] = {}
    """Who may come over HTTP: the SHA-256 of a bearer token, in hex, to whose it is. With none,
    whoever can reach the address is the application itself."""
    hosts: tuple[Annotated[str, Field(min_length=1)], ...] = ()
    """Names by which clients reach it over HTTP, besides the address that it listens on:
    `host` or `host:port`, as they stand in the header `Host`."""

    @field_validator("tokens", mode="before")
    @classmethod
    def _hashed(cls, tokens: Any) -> Any:
        # Told without the key: it is most likely the token itself.
        if isinstance(tokens, Mapping):
            for at, key in enumerate(tokens, start=1):
                if not (isinstance(key, str) and _TOKEN_HASH.fullmatch(key)):
                    raise ValueError(
                        f"key {at} is not the SHA-256 of a token in 64 lower-case hex digits; "
                        "write the hash, never the token"
                    )
        return tokens


class Settings(_Part):
    """Everything that a host may set. All optional."""

    instance: str = ""
    """A name for this deployment, which mappings see as `ctx.instance`."""
    contracts: dict[Annotated[str, Field(min_length=1)], Contract] = {}
    overrides: dict[str, Override] = {}
    disabled: tuple[str, ...] = ()
    """Names of tools that nobody may use."""
    servers: dict[str, ServerSettings] = {}
    tags: dict[Pattern, tuple[ToolTag, ...]] = {}
    """Tags by model-facing name or `prefix*`, besides those that tools have."""
    grants: tuple[Grant, ...] | None = None
    """None: everything to the application itself, its workflows and its sub-agents."""
    agents: dict[str, AgentTools] = {}
    """By the name in `Caller.agent`; an agent that is not here has no tools."""
    unreachable: OnUnreachable = OnUnreachable.WARN
    trifecta: Trifecta = Trifecta.REFUSE
    coerce: StrictBool = True
    """Read numbers, booleans and JSON that a model wrote as text, where only one reading fits, and
    drop optional properties that it filled with null or "" and that may be neither."""
    gateway: GatewaySettings = GatewaySettings()
    lock: Path | None = None
    """The lock file of accepted tools; relative to the settings' own file."""

    _origin: Origin = PrivateAttr(default=Origin())

    @classmethod
    def of(cls, given: object) -> "Settings":
        """The settings that somebody gave; None for none.

        Raises:
            ConfigurationError: It is something else, such as the path of a file.
        """
        if given is None:
            return cls()
        if isinstance(given, Settings):
            return given
        kind = type(given).__name__
        raise ConfigurationError(
            f"`settings` must be Settings, not {kind}: read a file with `Settings.from_file(path)`"
        )

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Self:
        """Read a `.yaml`, `.yml`, `.toml` or `.json` file.

        Raises:
            ConfigurationError: It cannot be read or used; names every problem with its line.
        """
        document, origin = read_document(path)
        settings = validated(cls, document, origin)
        if settings.lock is not None:
            settings = settings.model_copy(update={"lock": Path(path).parent / settings.lock})
        settings._origin = origin
        return settings

    @classmethod
    def from_dict(cls, mapping: Mapping[str, Any]) -> Self:
        """Read what such a file holds, already parsed.

        Raises:
            ConfigurationError: It cannot be used; names every problem with its key path.
        """
        return validated(cls, mapping, Origin())

    def where(self, *path: str | int) -> str:
        """How to tell people of a place in these settings: file, line and keys, as far as known."""
        return self._origin.where(path)
