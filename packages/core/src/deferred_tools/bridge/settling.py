"""What becomes of a call at the end of its message. Pure; knows nothing of streams."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from deferred_tools.bridge.assembly import Assembly
from deferred_tools.bridge.ending import Ending
from deferred_tools.bridge.events import Complete, Invalid, Outcome, Reason
from deferred_tools.bridge.minting import MintedIds
from deferred_tools.bridge.reading import UnreadableError
from deferred_tools.bridge.slot import Slot


@dataclass(frozen=True, slots=True)
class Settling:
    """What has to be known of the message to settle its calls."""

    ending: Ending
    may_be_empty: Callable[[str], bool]
    arguments_lost: bool
    """Whether some arguments belong to no call, so that a call without any may have lost them."""

    def settle(self, call: Assembly, slot: Slot, call_id: str, *, is_last: bool) -> Outcome:
        """The call, or why it cannot be run; `is_last` if the end of the message may be in it."""
        try:
            arguments = self._arguments(call, slot.name, is_last=is_last)
        except UnreadableError as error:
            return Invalid(
                key=slot.key,
                id=call_id,
                name=slot.name,
                reason=error.reason,
                problem=error.problem,
                raw=call.arguments.raw,
                signature=slot.signature,
                params=slot.params,
            )
        return Complete(
            key=slot.key,
            id=call_id,
            name=slot.name,
            arguments=arguments,
            signature=slot.signature,
            params=slot.params,
        )

    def _arguments(self, call: Assembly, name: str, *, is_last: bool) -> dict[str, object]:
        if not name:
            raise UnreadableError(Reason.NO_NAME, "it names no tool")
        if call.conflict:
            raise UnreadableError(Reason.CONFLICTING, call.conflict)
        if is_last and self.ending is Ending.CUT:
            raise UnreadableError(Reason.TRUNCATED, "the message was cut off where it stood")
        arguments = call.arguments.read()
        if arguments is None:
            is_finished = self.ending is Ending.FINISHED or (call.closed and not is_last)
            self._check_that_none_are_meant(call, name, is_finished=is_finished)
        elif call.could_be_two and self.may_be_empty(name):
            raise UnreadableError(
                Reason.CONFLICTING, "it cannot be told whether it is one call or two"
            )
        return arguments or {}

    def _check_that_none_are_meant(self, call: Assembly, name: str, *, is_finished: bool) -> None:
        if call.repeats or call.could_be_two:
            raise UnreadableError(
                Reason.CONFLICTING, "its name came twice and its arguments not at all"
            )
        if self.arguments_lost:
            raise UnreadableError(
                Reason.CONFLICTING, "it has no arguments, but some came that are of no call"
            )
        if not is_finished:
            raise UnreadableError(
                Reason.TRUNCATED, "the message ended before any arguments for it came"
            )
        if not self.may_be_empty(name):
            raise UnreadableError(
                Reason.UNPARSEABLE, "it came without arguments, and it requires some"
            )


def unique_ids(slots: Sequence[Slot], minted: MintedIds) -> list[str]:
    """An id for each call: the wire's, unless a call before it has that."""
    ids: dict[str, None] = {}
    for slot in slots:
        free = (it for it in (slot.wire_id, slot.key) if it and it not in ids)
        ids[next(free, None) or minted.mint()] = None
    return list(ids)
