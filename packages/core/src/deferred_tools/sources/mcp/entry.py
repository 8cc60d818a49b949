"""One entry of an `mcpServers` file, read whole: every problem is collected, none raised. Pure.

Problems name keys and variables, never the values of `env`, `headers` or a variable.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Literal

import httpx2
from pydantic import BaseModel, ConfigDict, Field, StrictBool, ValidationError
from pydantic.alias_generators import to_camel

from deferred_tools.documents.origin import KeyPath, Problem
from deferred_tools.documents.problems import problems_of
from deferred_tools.sources.mcp.server import Command, Endpoint, McpServer, OAuthClient
from deferred_tools.spec import Pattern, ToolTag, namespace

_HTTP_TYPES = frozenset({"http", "streamable-http", "streamableHttp", "streamable_http"})
_VARIABLE = re.compile(r"\$\{([^}]*)\}")
_NAMED = re.compile(r"(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?", re.DOTALL)
# Keys of other clients that change neither how a server is reached nor what it offers.
_IGNORED = frozenset({"alwaysAllow", "autoApprove", "description", "dev", "gallery", "version"})
# Keys of other clients that would change it, and what to write instead.
_ELSEWHERE = {
    "disabledTools": "deny",
    "enabledTools": "allow",
    "envFile": "env",
    "excludeTools": "deny",
    "httpUrl": "url",
    "includeTools": "allow",
    "serverUrl": "url",
    "transport": "type",
}


class OAuthEntry(BaseModel):
    """The keys that `oauth` may have; `clientId` and `callbackPort` as Claude Code writes them."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True
    )

    client_id: str = ""
    client_secret: str = ""
    issuer: str = ""
    scopes: list[Annotated[str, Field(min_length=1)]] = []
    callback_port: Annotated[int, Field(strict=True, ge=0, le=65535)] = 0
    grant: Literal["authorization_code", "client_credentials"] = "authorization_code"


class Entry(BaseModel):
    """The keys that an entry may have."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    type: str | None = None
    command: str | None = None
    args: list[str] = []
    env: dict[str, str] = {}
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, str] = {}
    oauth: OAuthEntry | None = None
    namespace: str | None = None
    timeout: Annotated[float, Field(strict=True, gt=0, allow_inf_nan=False)] | None = None
    disabled: StrictBool = False
    tags: list[ToolTag] = []
    allow: list[Pattern] = ["*"]
    deny: list[Pattern] = []
    pinned: list[Annotated[str, Field(min_length=1)]] = []


def read_entry(
    name: str, value: object, environ: Mapping[str, str]
) -> tuple[McpServer | None, list[Problem]]:
    """The server that an entry describes, or None and all that is wrong with it."""
    keys = value
    if isinstance(value, Mapping):
        keys = {key: item for key, item in value.items() if key not in _IGNORED}
    try:
        entry = Entry.model_validate(keys)
    except ValidationError as error:
        return None, list(problems_of(error, Entry, keys, _ELSEWHERE))
    expand = _Expansion(environ)
    at = _command(entry, expand) if entry.url is None else _endpoint(entry, expand)
    own = namespace(entry.namespace or name)
    # What a disabled server would need may be missing.
    problems = _contradictions(entry) + ([] if entry.disabled else expand.problems)
    if not own:
        problems.append(
            ((), 'its name leaves nothing for ids (`a-z A-Z 0-9 _ -`); set `"namespace"`')
        )
    if problems:
        return None, problems
    server = McpServer(
        name=name,
        namespace=own,
        at=at,
        timeout=entry.timeout,
        disabled=entry.disabled,
        tags=frozenset(entry.tags),
        allow=tuple(entry.allow),
        deny=tuple(entry.deny),
        pinned=tuple(entry.pinned),
        secrets=expand.secrets(at),
    )
    return server, []


class _Expansion:
    """Puts variables of the environment in, and remembers their values as secrets."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._values: set[str] = set()
        self.problems: list[Problem] = []

    def text(self, text: str, *path: str | int) -> str:
        return _VARIABLE.sub(lambda found: self._one(found, path), text)

    def pairs(self, pairs: Mapping[str, str], key: str) -> dict[str, str]:
        return {name: self.text(value, key, name) for name, value in pairs.items()}

    def secrets(self, at: Command | Endpoint) -> frozenset[str]:
        if isinstance(at, Command):
            declared = {*at.env.values()}
        else:
            declared = {*at.headers.values(), at.client.secret}
        return frozenset(self._values.union(declared) - {""})

    def _one(self, found: re.Match[str], path: KeyPath) -> str:
        parts = _NAMED.fullmatch(found.group(1))
        if parts is None:
            # Not quoted: it may be a part of a secret.
            cure = "use ${NAME}, ${env:NAME} or ${NAME:-default}"
            self.problems.append((path, f"holds a ${{...}} that is not known here; {cure}"))
            return ""
        name: str = parts.group(1)
        default: str | None = parts.group(2)
        value = self._environ.get(name, default)
        if value is None:
            self.problems.append(
                (path, f"the environment variable {name!r} is not set; set it, or write a default")
            )
            return ""
        self._values.add(value)
        return value


def _command(entry: Entry, expand: _Expansion) -> Command:
    return Command(
        command=expand.text(entry.command or "", "command"),
        args=tuple(expand.text(arg, "args", at) for at, arg in enumerate(entry.args)),
        env=expand.pairs(entry.env, "env"),
        cwd=None if entry.cwd is None else expand.text(entry.cwd, "cwd"),
    )


def _endpoint(entry: Entry, expand: _Expansion) -> Endpoint:
    url = expand.text(entry.url or "", "url")
    headers = expand.pairs(entry.headers, "headers")
    if not expand.problems and not _is_address(url):
        expand.problems.append((("url",), "must be a whole http:// or https:// address"))
    for name, value in headers.items():
        if not (value.isascii() and value.isprintable()):
            why = "its value has a line break or a character that headers cannot carry; remove it"
            expand.problems.append((("headers", name), why))
    client = OAuthClient() if entry.oauth is None else _client(entry.oauth, expand)
    return Endpoint(url=url, headers=headers, client=client)


def _client(oauth: OAuthEntry, expand: _Expansion) -> OAuthClient:
    client = OAuthClient(
        id=expand.text(oauth.client_id, "oauth", "clientId"),
        secret=expand.text(oauth.client_secret, "oauth", "clientSecret"),
        issuer=oauth.issuer,
        scopes=tuple(oauth.scopes),
        port=oauth.callback_port,
        alone=oauth.grant == "client_credentials",
    )
    if client.alone and not (client.id and client.secret and _is_address(client.issuer)):
        needs = "needs `clientId`, `clientSecret` and `issuer` (an address), too; add them"
        expand.problems.append((("oauth", "grant"), f"'client_credentials' {needs}"))
    return client


def _is_address(url: str) -> bool:
    try:
        parsed = httpx2.URL(url)
    except httpx2.InvalidURL:
        return False
    return parsed.scheme in {"http", "https"} and bool(parsed.host)


def _contradictions(entry: Entry) -> list[Problem]:
    """Keys that are fine alone but not together."""
    if entry.type == "sse":
        cure = 'use the server\'s streamable HTTP address, with "type": "http"'
        return [(("type",), f"the old SSE transport is not supported; {cure}")]
    if entry.type is not None and entry.type not in {"stdio", *_HTTP_TYPES}:
        return [(("type",), f"must be 'stdio' or 'http', not {entry.type!r}")]
    if entry.command is not None and entry.url is not None:
        return [((), 'has both "command" and "url"; keep one of them')]
    if not entry.command and not entry.url:
        return [((), 'has neither "command" (a local server) nor "url" (a remote one); add one')]
    kind = "command" if entry.command else "url"
    if entry.type is not None and (entry.type == "stdio") != (kind == "command"):
        return [(("type",), f"{entry.type!r} does not fit {kind!r}; remove one of them")]
    foreign = {"url": ("args", "env", "cwd"), "command": ("headers", "oauth")}[kind]
    return [
        ((key,), f"means nothing beside {kind!r}; remove it")
        for key in foreign
        if getattr(entry, key)
    ]
