"""Which tools a conversation has enabled: a frozen value, plain JSON, mergeable.

The framework keeps it where it keeps its state, so it survives restarts, forks and other
machines. Two searches that ran side by side each change a copy; `merge` unites them, and is
associative, commutative and idempotent: nothing is ever taken out, what ends is marked. Time is
logical (a Lamport clock over the session itself), so that the order of tools is the same in every
process and on every replay.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from math import floor
from typing import Self

from pydantic import BaseModel, ConfigDict

from deferred_tools.limits import LEDGER, SEARCHES
from deferred_tools.policy import Caller
from deferred_tools.spec import ToolSpec, ToolTag
from deferred_tools.trifecta import completes


class Inherit(StrEnum):
    """What a helper agent takes over of what is enabled in the conversation that asks it."""

    NONE = "none"
    ALL = "inherit"
    SUBSET = "subset"


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
    uses: int = 0
    """Calls so far; of calls in two branches that are merged, those of the busier one."""
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


class Approval(BaseModel):
    """A tool that the host allowed here although it completes the trifecta, as it then was."""

    model_config = ConfigDict(frozen=True)

    name: str
    digest: str


class Session(BaseModel):
    """The conversation's ledger. Every change returns a new session, or self if nothing changed."""

    model_config = ConfigDict(frozen=True)

    caller: Caller = Caller.anonymous()
    ledger: tuple[Enablement, ...] = ()
    searches: tuple[SearchRecord, ...] = ()
    exposed: tuple[ToolTag, ...] = ()
    """Tags of the tools called so far: what was read stays read, whatever is disabled. Without
    those of tools that complete the trifecta and were approved."""
    approved: tuple[Approval, ...] = ()

    @property
    def clock(self) -> float:
        """The latest logical time in this session."""
        times = [max(e.used, e.off) for e in self.ledger]
        return max([*times, *(s.at for s in self.searches)], default=0.0)

    def tick(self, position: int = 0) -> float:
        """The next logical time; `position` orders what happens side by side in one step."""
        return floor(self.clock) + 1 + max(0, min(position, 999)) / 1000

    def for_caller(self, caller: Caller) -> Self:
        """This session in the hands of `caller`, as the host vouches for it now."""
        return self if caller == self.caller else self.model_copy(update={"caller": caller})

    def enabled(self, limit: int) -> tuple[Enablement, ...]:
        """Enabled tools in first-enabled order; past `limit` the least recently used are out."""
        latest = {e.name: e for e in sorted(self.ledger, key=lambda e: (e.used, e.digest))}
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
        """Take `names` out, until they are enabled again; enabling side by side with it wins."""
        gone, now = set(names), self.tick()
        return self._with(
            [e.model_copy(update={"off": now}) for e in self.ledger if e.name in gone and e.active]
        )

    def called(self, specs: Sequence[ToolSpec], *, limit: int = LEDGER) -> Self:
        """Note calls, in their order: of `specs`, those that are enabled within `limit`.

        The tags of a call that completes the trifecta are not noted: it will be refused, or has
        been approved, and then whatever was free before stays free.
        """
        held = {e.name: e for e in self.enabled(limit)}
        made = [s for s in specs if s.name in held and held[s.name].digest == s.digest]
        now, exposed = self.tick(), set(self.exposed)
        for spec in made:
            entry = held[spec.name]
            held[spec.name] = entry.model_copy(update={"used": now, "uses": entry.uses + 1})
            if not completes(exposed, spec.tags):
                exposed |= spec.tags
        changed = [held[name] for name in dict.fromkeys(spec.name for spec in made)]
        return self._with(changed).exposed_to(exposed)

    def exposed_to(self, tags: Iterable[ToolTag]) -> Self:
        """This session after a call of a tool with `tags`."""
        exposed = tuple(sorted({*self.exposed, *tags}))
        return self if exposed == self.exposed else self.model_copy(update={"exposed": exposed})

    def approve(self, specs: Iterable[ToolSpec]) -> Self:
        """Let these tools be used here although they complete the trifecta: the host's word."""
        given = [Approval(name=spec.name, digest=spec.digest) for spec in specs]
        return self.model_copy(update={"approved": _sorted([*self.approved, *given])})

    def approves(self, spec: ToolSpec) -> bool:
        """Whether the host has approved the tool as it is now."""
        return Approval(name=spec.name, digest=spec.digest) in self.approved

    def child(
        self, caller: Caller, inherit: Inherit = Inherit.NONE, *, names: Iterable[str] = ()
    ) -> Self:
        """The session of a helper agent: with nothing enabled, all of it, or only `names`.

        It is exposed to whatever this one is exposed to, as it is told of that, but has none of
        its approvals. Its `caller` is best made by `Caller.child`.
        """
        wanted = set(names)
        kept = {
            Inherit.NONE: (),
            Inherit.ALL: self.ledger,
            Inherit.SUBSET: tuple(e for e in self.ledger if e.name in wanted),
        }[inherit]
        return type(self)(caller=caller, ledger=kept, exposed=self.exposed)

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
                "exposed": tuple(sorted({*self.exposed, *other.exposed})),
                "approved": _sorted([*self.approved, *other.approved]),
            }
        )

    def _with(self, changed: list[Enablement]) -> Self:
        if not changed:
            return self
        return self.model_copy(update={"ledger": _united([*self.ledger, *changed])})


def _united(entries: list[Enablement]) -> tuple[Enablement, ...]:
    """One entry per (name, digest): earliest `since`, latest `used` and `off`, most `uses`."""
    known: dict[tuple[str, str], Enablement] = {}
    for entry in entries:
        key = (entry.name, entry.digest)
        old = known.get(key)
        if old is None or old == entry:
            known[key] = entry
            continue
        first = min(old, entry, key=lambda e: (e.since, e.query))
        known[key] = first.model_copy(
            update={
                "used": max(old.used, entry.used),
                "off": max(old.off, entry.off),
                "uses": max(old.uses, entry.uses),
            }
        )
    kept = sorted(known.values(), key=_recency)[:LEDGER]
    return tuple(sorted(kept, key=lambda e: (e.since, e.name, e.digest)))


def _sorted(approvals: Iterable[Approval]) -> tuple[Approval, ...]:
    return tuple(sorted(set(approvals), key=lambda a: (a.name, a.digest)))


def _recency(entry: Enablement) -> tuple[float, str, str]:
    return (-max(entry.used, entry.off), entry.name, entry.digest)


def _latest(records: set[SearchRecord]) -> tuple[SearchRecord, ...]:
    ordered = sorted(records, key=lambda s: (s.at, s.turn, s.query, s.found))
    return tuple(ordered[-SEARCHES:])
