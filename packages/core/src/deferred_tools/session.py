"""Which tools a conversation has enabled: a frozen value, plain JSON, mergeable.

The framework keeps it where it keeps its state, so it survives restarts, forks and other
machines. Two searches that ran side by side each change a copy; `merge` unites them, and is
associative, commutative and idempotent. Time is logical (a Lamport clock over the session
itself), so that the order of tools is the same in every process and on every replay.
"""

from collections.abc import Iterable, Sequence
from math import floor
from typing import Self

from pydantic import BaseModel, ConfigDict

from deferred_tools.limits import LEDGER, SEARCHES
from deferred_tools.policy import Caller
from deferred_tools.spec import ToolSpec


class Enablement(BaseModel):
    """One tool, as it was when it was enabled."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)

    name: str
    digest: str
    """`ToolSpec.digest` at that time: a changed tool must be searched for again."""
    since: float
    """Logical time of the first enabling; sets the order of bound tools."""
    used: float
    """Logical time of the last enabling or call."""
    off: float = 0.0
    """Logical time of the last disabling."""
    query: str = ""

    @property
    def active(self) -> bool:
        """Whether it is enabled at present."""
        return self.used > self.off


class SearchRecord(BaseModel):
    """One search: what makes budgets and loop guards survive a restart."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)

    at: float
    turn: str
    query: str
    found: tuple[str, ...]


class Session(BaseModel):
    """The conversation's ledger. Every change returns a new session, or self if nothing changed."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)

    caller: Caller = Caller.anonymous()
    ledger: tuple[Enablement, ...] = ()
    searches: tuple[SearchRecord, ...] = ()

    @property
    def clock(self) -> float:
        """The latest logical time in this session."""
        times = [max(e.used, e.off) for e in self.ledger]
        return max([*times, *(s.at for s in self.searches)], default=0.0)

    def tick(self, position: int = 0) -> float:
        """The next logical time; `position` orders what happens side by side in one step."""
        return floor(self.clock) + 1 + min(position, 999) / 1000

    def for_caller(self, caller: Caller) -> Self:
        """This session in the hands of `caller`, as the host vouches for it now."""
        return self if caller == self.caller else self.model_copy(update={"caller": caller})

    def enabled(self, limit: int) -> tuple[Enablement, ...]:
        """Enabled tools in first-enabled order; past `limit` the least recently used are out."""
        latest: dict[str, Enablement] = {}
        for entry in self.ledger:
            known = latest.get(entry.name)
            if known is None or (entry.used, entry.digest) > (known.used, known.digest):
                latest[entry.name] = entry
        live = sorted((e for e in latest.values() if e.active), key=_recency)[:limit]
        return tuple(sorted(live, key=lambda e: (e.since, e.name)))

    def enable(self, specs: Sequence[ToolSpec], *, query: str = "", position: int = 0) -> Self:
        """Enable `specs`, in their order; one that is enabled keeps its place."""
        now = self.tick(position)
        fresh = [
            Enablement(
                name=spec.name,
                digest=spec.digest,
                since=now + rank / 1_000_000,
                # The best is the last to leave.
                used=now + (len(specs) - rank) / 1_000_000,
                query=query,
            )
            for rank, spec in enumerate(specs)
        ]
        return self._with(fresh)

    def disable(self, names: Iterable[str]) -> Self:
        """Take `names` out, until they are enabled again."""
        gone, now = set(names), self.tick()
        return self._with(
            [e.model_copy(update={"off": now}) for e in self.ledger if e.name in gone and e.active]
        )

    def touch(self, names: Iterable[str], *, limit: int = LEDGER) -> Self:
        """Note that those of `names` that are enabled within `limit` were called just now."""
        called, now = set(names), self.tick()
        return self._with(
            [e.model_copy(update={"used": now}) for e in self.enabled(limit) if e.name in called]
        )

    def searched(self, turn: str, query: str, found: Iterable[str], *, position: int = 0) -> Self:
        """Note a search."""
        record = SearchRecord(at=self.tick(position), turn=turn, query=query, found=tuple(found))
        return self.model_copy(update={"searches": _latest({*self.searches, record})})

    def searches_in(self, turn: str) -> tuple[SearchRecord, ...]:
        """The searches of one turn."""
        return tuple(s for s in self.searches if s.turn == turn)

    def merge(self, other: Self) -> Self:
        """Both, united. Sessions of two different callers unite to an anonymous one."""
        caller = self.caller if self.caller == other.caller else Caller.anonymous()
        return self.model_copy(
            update={
                "caller": caller,
                "ledger": _united([*self.ledger, *other.ledger]),
                "searches": _latest({*self.searches, *other.searches}),
            }
        )

    def _with(self, changed: list[Enablement]) -> Self:
        if not changed:
            return self
        return self.model_copy(update={"ledger": _united([*self.ledger, *changed])})


def _united(entries: list[Enablement]) -> tuple[Enablement, ...]:
    """One entry per (name, digest): earliest `since`, latest `used` and `off`."""
    known: dict[tuple[str, str], Enablement] = {}
    for entry in entries:
        key = (entry.name, entry.digest)
        old = known.get(key)
        if old is None or old == entry:
            known[key] = entry
            continue
        first = min(old, entry, key=lambda e: (e.since, e.query))
        known[key] = first.model_copy(
            update={"used": max(old.used, entry.used), "off": max(old.off, entry.off)}
        )
    kept = sorted(known.values(), key=_recency)[:LEDGER]
    return tuple(sorted(kept, key=lambda e: (e.since, e.name, e.digest)))


def _recency(entry: Enablement) -> tuple[float, str, str]:
    return (-max(entry.used, entry.off), entry.name, entry.digest)


def _latest(records: set[SearchRecord]) -> tuple[SearchRecord, ...]:
    ordered = sorted(records, key=lambda s: (s.at, s.turn, s.query, s.found))
    return tuple(ordered[-SEARCHES:])
