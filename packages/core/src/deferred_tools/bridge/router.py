"""Leads each fragment to the call that it is of. Knows nothing of what arguments say."""

from dataclasses import replace
from typing import NamedTuple

from deferred_tools.bridge.assembly import Assembly
from deferred_tools.bridge.bridge import ToolCallBridge
from deferred_tools.bridge.dialects import UNKNOWN, Dialect, Means
from deferred_tools.bridge.fragment import Fragment
from deferred_tools.bridge.lanes import Lane, Lanes, Place
from deferred_tools.bridge.meaning import may_be_two, meaning
from deferred_tools.bridge.minting import MintedIds
from deferred_tools.bridge.open_calls import OpenCalls
from deferred_tools.bridge.slot import Slot


class Led(NamedTuple):
    """Where a fragment went."""

    before: Slot | None
    """Who the call was before; None if it began with this fragment."""
    after: Slot
    """Who it is now."""
    shown: str
    """What of the fragment is more of the arguments, for a preview."""


class CallRouter:
    """The calls of one message, by whatever its wire tells them apart by."""

    def __init__(self, dialect: Dialect, minted: MintedIds | None) -> None:
        self.bridge = ToolCallBridge[Place](minted)
        """Who the calls are; in the wire's order."""
        self.calls: dict[Place, Assembly] = {}
        """In the order in which they were seen first."""
        self.latest: Assembly | None = None
        """The call that the latest fragment went to."""
        self._dialect = dialect
        self._lanes = Lanes()
        self._at: dict[Lane, Assembly] = {}
        self._by_id: dict[str, Assembly] = {}
        self._open = OpenCalls()

    @property
    def in_doubt(self) -> bool:
        """Whether some arguments could be of several calls."""
        return self._open.in_doubt

    def lead(self, fragment: Fragment) -> Led | None:
        """Give `fragment` to its call; None if it says nothing of any call."""
        if fragment.id in self._dialect.missing_ids:
            fragment = replace(fragment, id=None)
        lane = self._lanes.of(fragment.index)
        there = self._find(fragment, lane)
        if there is None and not (fragment.identifies or fragment.brings_arguments):
            return None
        rules = self._dialect if lane or not self._dialect.by_index else UNKNOWN
        placed = fragment.name or fragment.id in self._by_id
        before = self.bridge.get(there.place) if there else None
        had_ended = there.ended if there else None
        call = self._call_of(fragment, lane, there, before, rules)
        if rules.careful and not placed and (fragment.arguments or fragment.whole):
            self._open.claim(call, lane)
        shown = call.take(fragment)
        if call is not there:
            before = had_ended = None
        if call.ended is not had_ended:
            self._open.note(call)
        self.latest = call
        return Led(before, self.bridge.open(call.place), shown)

    def last(self) -> set[Assembly]:
        """The calls that may be the one that the model was writing, where the message stops.

        Where fragments of several calls alternate, it is the latest, the newest or the highest.
        """
        found: set[Assembly] = set()
        if self.calls:
            for call in (self.latest, [*self.calls.values()][-1], self.calls[max(self.calls)]):
                before = call
                while before and before not in found:
                    found.add(before)
                    before = before.repeats
        return found

    def _find(self, fragment: Fragment, lane: Lane | None) -> Assembly | None:
        """The call that `fragment` meets, whether it is of it or not."""
        if lane is not None and self._dialect.by_index:
            return self._at.get(lane)
        if fragment.id and fragment.id in self._by_id:
            return self._by_id[fragment.id]
        if lane is None:
            return self.latest
        if lane in self._at or fragment.identifies:
            return self._at.get(lane)
        return self._open.only_without_index()

    def _call_of(
        self,
        fragment: Fragment,
        lane: Lane | None,
        there: Assembly | None,
        slot: Slot | None,
        rules: Dialect,
    ) -> Assembly:
        """The call that `fragment` is of, where it meets the call `there`, which is `slot`."""
        if there is None or slot is None:
            return self._start(fragment, lane)
        if not (fragment.identifies or rules.whole):
            return there
        moved = rules.careful and lane not in (None, there.lane)
        twice = moved or may_be_two(rules, slot, fragment)
        means = meaning(rules, slot, fragment, ended=there.ended)
        if moved and fragment.name:
            means = Means.NEW_CALL if there.ended else Means.CONFLICT
        there.could_be_two |= twice and not there.ended and there.arguments.empty
        if means is Means.NEW_CALL:
            call = self._start(fragment, lane)
            call.repeats = there if twice or not fragment.name else None
            if twice and (there.conflict or not (there.ended or there.arguments.empty)):
                call.doubt("it cannot be told whether it goes on with the call before it")
            return call
        if means is Means.CONFLICT:
            there.doubt("what came of it has two names or ids")
        else:
            self._identify(there, fragment)
        return there

    def _start(self, fragment: Fragment, lane: Lane | None) -> Assembly:
        lane = lane or self._lanes.new()
        number = len(self.calls)
        # The bridge keeps its calls in the order of these.
        place = (*lane, number) if self._dialect.by_index else (0, 0, number)
        call = self.calls[place] = self._at[lane] = Assembly(place, lane)
        self._identify(call, fragment)
        return call

    def _identify(self, call: Assembly, fragment: Fragment) -> None:
        """Fill in what `fragment` says of who `call` is."""
        slot = self.bridge.open(call.place, fragment.id, fragment.name)
        if slot.wire_id:
            self._by_id[slot.wire_id] = call
