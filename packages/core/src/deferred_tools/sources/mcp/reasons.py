"""Why a server is not there, in words that help. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import anyio
import httpx2
from mcp import MCPError
from pydantic import ValidationError

from deferred_tools.sources.base import SourceStatus
from deferred_tools.sources.mcp.server import Command, McpServer
from deferred_tools.sources.mcp.unanswered import CLOSED
from deferred_tools.sources.mcp.way import (
    LACKS_SCOPE,
    DeadlineError,
    DiedOnDiscoverError,
    LacksScopeError,
    LinkError,
    Way,
)

# What anyio says of a stream whose other end has gone.
_CLOSED = (anyio.BrokenResourceError, anyio.ClosedResourceError)


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
    leaves = [leaf for leaf in _leaves(error) if not isinstance(leaf, _CLOSED)]
    lacking = next((str(leaf) for leaf in leaves if _lacks_scope(leaf)), None)
    if lacking is not None:
        return Failure(SourceStatus.AUTH_REQUIRED, lacking)
    if way.refused:
        return Failure(SourceStatus.AUTH_REQUIRED, way.findings())
    # That a request went unanswered came of any other error that there is.
    causes = sorted(leaves, key=lambda leaf: isinstance(leaf, LinkError))
    told = _tell(causes[0], server) if causes else CLOSED
    return Failure(
        SourceStatus.UNAVAILABLE,
        "; ".join(dict.fromkeys(text for text in (told, way.findings()) if text)),
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


def _lacks_scope(error: BaseException) -> bool:
    # From the handshake it comes as the SDK hands it on.
    return isinstance(error, LacksScopeError) or (
        isinstance(error, MCPError) and error.code == LACKS_SCOPE
    )


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
