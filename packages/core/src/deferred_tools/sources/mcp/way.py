"""What a connection needs of the way to a server, and how being connected fails."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import anyio
from mcp.client import Transport


class Way(Protocol):
    """A way to a server, opened once and asked afterwards what it saw."""

    answers: bool
    """Whether the server answers: only then it is told to leave, and given time to."""

    @property
    def refused(self) -> bool:
        """Whether the server wants other credentials."""
        ...

    @property
    def forgotten(self) -> bool:
        """Whether the server no longer knows the session that it had opened."""
        ...

    def open(self) -> Transport:
        """The two streams; nothing of it is left on exit."""
        ...

    def findings(self) -> str:
        """What there is to say beyond the error, without secrets; or ""."""
        ...

    def asides(self) -> str:
        """What a sound connection left to be said, without secrets; or ""."""
        ...


REFUSED = -1_401
"""Code of an error that our side of the wire puts in place of an answer: not acted upon, and no
further request will be."""
LACKS_SCOPE = -1_403
"""The same for a request that needs a scope which others do not."""


class LinkError(Exception):
    """A request got no answer, and none will come."""

    def __init__(self, reason: str, *, sent: bool) -> None:
        self.sent = sent
        """Whether the server may have acted on it."""
        super().__init__(reason)


class LacksScopeError(LinkError):
    """The server wants a scope that our token does not have; other requests may do without."""


class DiedOnDiscoverError(LinkError):
    """The server left at the first request of the new protocol: it only knows the old one."""


class DeadlineError(Exception):
    """The server did not answer within a limit, which the message names."""


@contextmanager
def deadline(seconds: float, limit: str, what: str) -> Iterator[None]:
    """Bound what happens inside; raises DeadlineError naming the limit."""
    try:
        with anyio.fail_after(seconds):
            yield
    except TimeoutError:
        raise DeadlineError(
            f"no answer to {what} within {seconds:g} s (`Limits.{limit}`)"
        ) from None
