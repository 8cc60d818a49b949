"""Why a server is not there, in words that help. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx2
from mcp import MCPError
from pydantic import ValidationError

from deferred_tools.sources.base import SourceStatus
from deferred_tools.sources.mcp.server import Command, McpServer
from deferred_tools.sources.mcp.way import DeadlineError, DiedOnDiscoverError, LinkError, Way


@dataclass(frozen=True, slots=True)
class Failure:
    """How a connection ended."""

    status: SourceStatus
    reason: str
    """Safe to show."""
    died_on_discover: bool = False
    """Whether the old protocol might fare better."""


def explain(error: BaseException | None, server: McpServer, way: Way) -> Failure:
    """What to tell of a connection that ended with `error`, or by itself."""
    if way.refused:
        told = f"{way.findings()}: set valid credentials in its `headers` (for instance"
        return Failure(SourceStatus.AUTH_REQUIRED, f"{told} `Authorization`)")
    leaves = list(_leaves(error))
    causes = [leaf for leaf in leaves if not isinstance(leaf, LinkError)]
    told = _tell(causes[0], server) if causes else "the connection was closed"
    findings = way.findings()
    return Failure(
        SourceStatus.UNAVAILABLE,
        f"{told}; {findings}" if findings else told,
        any(isinstance(leaf, DiedOnDiscoverError) for leaf in leaves),
    )


def _tell(error: BaseException, server: McpServer) -> str:
    """The error in our words; in its own only where they are free of values."""
    match error:
        case DeadlineError():
            return str(error)
        case OSError() if isinstance(server.at, Command):
            return server.quote(_not_started(error, server.at))
        case httpx2.HTTPError() | OSError():
            cure = "check `url`, and that the server runs"
            return f"cannot reach {_origin(server)}: {server.quote(str(error))}; {cure}"
        case MCPError():
            return f"it answered with error {error.code}: {server.quote(error.message)}"
        case ValidationError():
            return "it gave an answer that is not MCP"
        case _:
            return server.quote(str(error)) or type(error).__name__


def _not_started(error: OSError, at: Command) -> str:
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        if at.cwd is not None and error.filename == at.cwd:
            return f"its working directory {at.cwd!r} does not exist; correct `cwd`"
        cure = (
            "put its arguments in `args`"
            if " " in at.command
            else "install it or correct `command`"
        )
        return f"the command {at.command!r} was not found; {cure}"
    why = f"the command {at.command!r} cannot be run: {error.strerror}"
    return f"{why}; name a program that you may run"


def _origin(server: McpServer) -> str:
    # No path and no query: services put keys there.
    parts = urlsplit("" if isinstance(server.at, Command) else server.at.url)
    return server.redact(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}")


def _leaves(error: BaseException | None) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    elif error is not None:
        yield error
