"""Where a conversation's ledger lives: plain JSON in the store of a LlamaIndex `Context`.

Calls that run side by side would lose each other's updates if each wrote the ledger whole, and
`edit_state` of the store copies what else is in it, the user's memory among them, which then
stops to fill. So each call writes only what it changed, under a key of its own, and the next step
of the model unites that: sessions merge in any order, and as often as one likes.

    {"<scope>": {"session": {...}, "changes": {"<digest>": {...}}, "searches": ["<digest>"]}}
"""

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from pydantic import BaseModel, Field

from deferred_tools.errors import ConfigurationError
from deferred_tools.session import Session
from deferred_tools.spec import ToolTag
from deferred_tools.stored import dump_session, load_session

logger = logging.getLogger(__name__)

STATE_KEY = "deferred_tools"
"""The key in a context's store."""
SHARED = "conversation"
"""The scope that all agents of a conversation share."""


class DeferredToolState(BaseModel):
    """Base of a workflow's typed state (`Context[MyState]`), so that it can hold the ledger."""

    deferred_tools: dict[str, Any] = Field(default_factory=dict)


class Store(Protocol):
    """What is needed of a context's store."""

    async def get(self, path: str, default: Any = ...) -> Any:
        """The value at a path, whose steps are separated by dots."""

    async def set(self, path: str, value: Any) -> None:
        """Write one value; what is beside it stays as it is."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What a store holds of one scope."""

    session: Session
    """As it was when the model was last asked: what that was shown is what may be called."""
    changes: tuple[Session, ...] = ()
    """What calls have changed since then."""
    searches: tuple[str, ...] = ()
    """Digests of the arguments of searches that the model asked for side by side."""
    exposed: frozenset[ToolTag] = frozenset()
    """What the conversation is exposed to, by any of its agents: they read the same messages."""

    @property
    def united(self) -> Session:
        """All of it."""
        session = self.session
        for change in self.changes:
            session = session.merge(change)
        return session


class Ledger:
    """One scope's part of a store: an agent's, or that of the whole conversation."""

    def __init__(self, store: Store, scope: str) -> None:
        """Take a context's store, and a scope whose name has no dots."""
        self._store = store
        self._scope = scope

    async def read(self) -> Kept:
        """What is stored; what cannot be read costs only itself."""
        scopes = await everything(self._store)
        kept = {scope: _kept(found) for scope, found in scopes.items()}
        sessions = [session for one in kept.values() for session in (one.session, *one.changes)]
        exposed = frozenset(tag for session in sessions for tag in session.exposed)
        return replace(kept.get(self._scope, Kept(session=Session())), exposed=exposed)

    async def add(self, change: Session) -> None:
        """Note what one call has changed."""
        value = dump_session(change)
        await _set(self._store, f"{STATE_KEY}.{self._scope}.changes.{digest(value)}", value)

    async def expect(self, searches: Sequence[object]) -> None:
        """Note the arguments of searches side by side, so that each can be told its place."""
        value = [digest(arguments) for arguments in searches]
        await _set(self._store, f"{STATE_KEY}.{self._scope}.searches", value)

    async def settle(self) -> Session:
        """Unite what the calls have changed: before the model is asked, when none of them runs."""
        scopes = await self._store.get(STATE_KEY, default=None)
        placed = isinstance(scopes, Mapping)
        found = scopes.get(self._scope, {}) if placed else scopes or {}
        kept = _kept(found)
        # A new conversation is written down, too: so a state without a place for it is told
        # before the model is asked.
        if placed and _in_shape(found) and not kept.changes:
            return kept.session
        # Whole, so that calls find their place again where something else had been put.
        value = {"session": dump_session(kept.united), "changes": {}}
        if placed:
            await _set(self._store, f"{STATE_KEY}.{self._scope}", value)
        else:
            await put_everything(self._store, {self._scope: value})
        return kept.united


def _kept(found: Any) -> Kept:
    if not _in_shape(found):
        logger.warning("a stored ledger cannot be read, tools must be searched again")
        return Kept(session=Session())
    changes, searches = found.get("changes", {}), found.get("searches")
    return Kept(
        session=load_session(found.get("session")),
        changes=tuple(map(load_session, changes.values())),
        searches=tuple(searches) if isinstance(searches, list) else (),
    )


def _in_shape(found: Any) -> bool:
    return isinstance(found, Mapping) and isinstance(found.get("changes", {}), Mapping)


def digest(value: object) -> str:
    """A short name for a JSON value."""
    said = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def scope_of(agent: str) -> str:
    """The scope of one agent; a store's paths have dots between their steps."""
    return "agent:" + "".join(c if c.isalnum() or c in "-_ " else f"%{ord(c):x}" for c in agent)


async def everything(store: Store) -> dict[str, Any]:
    """All scopes of a store, as JSON."""
    found = await store.get(STATE_KEY, default=None)
    return dict(found) if isinstance(found, Mapping) else {}


async def put_everything(store: Store, value: Mapping[str, Any]) -> None:
    """Write all scopes.

    Raises:
        ConfigurationError: The workflow's typed state has no place for them.
    """
    await _set(store, STATE_KEY, dict(value))


async def _set(store: Store, path: str, value: Any) -> None:
    try:
        await store.set(path, value)
    except (ValueError, AttributeError, TypeError) as error:
        raise ConfigurationError(
            f"the workflow's state cannot hold what a search enables ({error}): derive the model "
            "of its `Context[...]` from DeferredToolState, which has the field "
            f"{STATE_KEY!r}, and keep nothing else under that name"
        ) from error
