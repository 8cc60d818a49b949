"""Who a streamed call is, as far as it is known. Knows nothing of arguments."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Decoration:
    """What a provider adds to a call that is under way."""

    wire_id: str
    """The call that it belongs to."""
    signature: str | None = None
    """Proof of what the model thought, to be sent back with the call."""
    params: Mapping[str, object] | None = field(default=None, repr=False)
    """Anything else to be sent back with it."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One streamed call. Its `key` is fixed at first sight, the rest is filled in later."""

    key: str
    """What the call is assembled by: its first wire id, or a minted id."""
    wire_id: str = ""
    """The provider's latest id; empty as long as there is none."""
    name: str = ""
    """The tool's name; empty as long as it is not known."""
    signature: str | None = None
    params: Mapping[str, object] | None = field(default=None, repr=False)

    def updated(self, wire_id: str | None, name: str | None) -> "Slot":
        """This slot with the values that are not empty; itself if that changes nothing."""
        wire_id, name = wire_id or self.wire_id, name or self.name
        if (wire_id, name) == (self.wire_id, self.name):
            return self
        return replace(self, wire_id=wire_id, name=name)

    def decorated(self, decoration: Decoration) -> "Slot":
        """This slot with the fields of the decoration that it has not got yet."""
        return replace(
            self,
            signature=decoration.signature if self.signature is None else self.signature,
            params=decoration.params if self.params is None else self.params,
        )
