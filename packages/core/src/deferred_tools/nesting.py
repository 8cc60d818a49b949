"""Agents within tools: what a conversation may hand down to them, and what comes back up.

While a tool runs, agents that work in it can see the conversation that called it: so they know
what it is exposed to, and it learns what they were exposed to, without the tool's author doing
anything. It goes by the context of Python's own, which frameworks carry into their threads and
tasks, too; a thread that a tool starts by itself needs `contextvars.copy_context().run`.
"""

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from threading import Lock

from deferred_tools.errors import ConfigurationError
from deferred_tools.session import Inherit, Session
from deferred_tools.spec import ToolTag


class RunningCall:
    """A tool call while it runs."""

    def __init__(self, session: Session) -> None:
        """Take the conversation that the call is of."""
        self.session = session
        self._changing = Lock()

    def expose(self, tags: Iterable[ToolTag]) -> None:
        """Note what an agent within was exposed to; any thread may."""
        with self._changing:
            self.session = self.session.exposed_to(tags)


_running: ContextVar[RunningCall | None] = ContextVar("deferred_tools_running_call", default=None)


@contextmanager
def running(session: Session) -> Iterator[RunningCall]:
    """Run a tool within: agents in it are told of `session`, and tell what they are exposed to."""
    call = RunningCall(session)
    token = _running.set(call)
    try:
        yield call
    finally:
        _running.reset(token)


def asking() -> Session | None:
    """The conversation whose tool call is running here; None outside of one.

    A helper agent's `caller` may be a function that makes it of this one's, by `Caller.child`.
    """
    call = _running.get()
    return call.session if call else None


def expose(tags: Iterable[ToolTag]) -> None:
    """Tell the conversation that asks this one, if any, of what this one is exposed to."""
    if call := _running.get():
        call.expose(tags)


@dataclass(frozen=True, slots=True)
class Inheritance:
    """What a helper agent takes over from the conversation that asks it."""

    kind: Inherit = Inherit.NONE
    names: frozenset[str] = frozenset()

    @classmethod
    def of(cls, inherit: str | Collection[str]) -> "Inheritance":
        """From "none", "inherit" (all), or the names of some tools.

        Raises:
            ConfigurationError: It is another text.
        """
        if not isinstance(inherit, str):
            return cls(Inherit.SUBSET, frozenset(inherit))
        if inherit not in (Inherit.NONE, Inherit.ALL):
            raise ConfigurationError(
                f"`inherit` must be 'none', 'inherit' or a list of tools' names, not {inherit!r}"
            )
        return cls(Inherit(inherit))

    def added_to(self, session: Session) -> Session:
        """`session` with what it inherits; it is exposed to what the other is, whatever that is."""
        call = _running.get()
        if call is None:
            return session
        call.expose(session.exposed)
        return session.merge(call.session.child(session.caller, self.kind, names=self.names))
