"""Who each call of a stream is. Knows nothing of arguments, frameworks or providers."""

from collections.abc import Callable, Hashable
from typing import Any, Generic, Protocol, TypeVar

from deferred_tools.bridge.minting import MintedIds
from deferred_tools.bridge.slot import Decoration, Slot


class WireIndex(Hashable, Protocol):
    """What a wire counts its calls by: hashable, and in order."""

    def __lt__(self, other: Any, /) -> bool: ...


Index = TypeVar("Index", bound=WireIndex)


class ToolCallBridge(Generic[Index]):
    """The open calls of one stream, by the wire's own index. One stream each; not for threads.

    A call's `Slot.key` is fixed when its index is first opened and given to no other call of the
    stream. Everything but the drains takes constant time.
    """

    def __init__(self, minted: MintedIds | None = None) -> None:
        """Take the source of ids for calls without one; by default one in a random namespace."""
        self._minted = minted or MintedIds()
        self._slots: dict[Index, Slot] = {}
        self._index_of: dict[str, Index] = {}
        self._keys: set[str] = set()

    @property
    def minted_ids(self) -> MintedIds:
        """The one counter for slots and for calls that come whole, so that no two ids are equal."""
        return self._minted

    def open(self, index: Index, wire_id: str | None = None, name: str | None = None) -> Slot:
        """The call at `index`, opened if there is none, with the id and name that are not empty.

        The key is the wire id. It is minted if there is none yet, or if another call of the stream
        has that key already. A wire id in the reserved namespace counts as none.
        """
        if wire_id and self._minted.owns(wire_id):
            wire_id = None
        before = self._slots.get(index)
        if before is not None and not (wire_id or name):
            return before
        slot = (before or Slot(self._key(wire_id))).updated(wire_id, name)
        self._forget_id(index, before)
        self._slots[index] = slot
        if slot.wire_id:
            self._index_of.setdefault(slot.wire_id, index)
        return slot

    def get(self, index: Index) -> Slot | None:
        """The open call at `index`."""
        return self._slots.get(index)

    def remove(self, index: Index) -> Slot | None:
        """Close the call at `index` and hand it over."""
        slot = self._slots.pop(index, None)
        self._forget_id(index, slot)
        return slot

    def evict_if(self, index: Index, predicate: Callable[[Slot], bool]) -> Slot | None:
        """Close and hand over the call at `index` if `predicate` says that it is another one.

        To be asked before `open` on wires that use an index again.
        """
        slot = self._slots.get(index)
        return self.remove(index) if slot is not None and predicate(slot) else None

    def decorate(self, decoration: Decoration) -> None:
        """Add to the open call with that wire id what it has not got yet; no call, no effect.

        Of several calls with one wire id, the first has it. The empty id is nobody's.
        """
        index = self._index_of.get(decoration.wire_id)
        if index is not None:
            self._slots[index] = self._slots[index].decorated(decoration)

    def drain_ordered(self) -> list[Slot]:
        """Close every open call and hand them over in the order of their indexes."""
        return [slot for _, slot in self.drain_ordered_indexed()]

    def drain_ordered_indexed(self) -> list[tuple[Index, Slot]]:
        """`drain_ordered`, with the indexes."""
        drained = [(index, self._slots[index]) for index in sorted(self._slots)]
        self._slots.clear()
        self._index_of.clear()
        return drained

    def is_empty(self) -> bool:
        """Whether no call is open."""
        return not self._slots

    def __len__(self) -> int:
        return len(self._slots)

    def _key(self, wire_id: str | None) -> str:
        key = wire_id if wire_id and wire_id not in self._keys else self._minted.mint()
        self._keys.add(key)
        return key

    def _forget_id(self, index: Index, slot: Slot | None) -> None:
        if slot is not None and self._index_of.get(slot.wire_id) == index:
            del self._index_of[slot.wire_id]
