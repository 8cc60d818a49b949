"""Whether a fragment belongs to the call at its place. Pure functions."""

from deferred_tools.bridge.dialects import Dialect, Means
from deferred_tools.bridge.fragment import Fragment
from deferred_tools.bridge.slot import Slot


def meaning(dialect: Dialect, slot: Slot, fragment: Fragment, *, ended: bool) -> Means:
    """What `fragment` means where `slot` is; `ended` says whether its arguments are all there."""
    same_id = bool(fragment.id) and fragment.id == slot.wire_id
    another_name = bool(fragment.name and slot.name) and fragment.name != slot.name
    if dialect.whole:
        says_more = fragment.brings_arguments or fragment.identifies
        return Means.NEW_CALL if says_more and (another_name or not same_id) else Means.SAME_CALL
    if another_name:
        # The id of a call that goes on cannot be another's.
        return Means.CONFLICT if same_id and not ended else dialect.another_name
    if fragment.id and slot.wire_id and not same_id:
        told = fragment.name or ended or dialect.another_id is not Means.NEW_CALL
        return dialect.another_id if told else Means.CONFLICT
    return dialect.name_again if ended and _names_again(slot, fragment) else Means.SAME_CALL


def may_be_two(dialect: Dialect, slot: Slot, fragment: Fragment) -> bool:
    """Whether the name in `fragment` may be said again for the call `slot`, or for a new one."""
    another_id = bool(fragment.id) and fragment.id != slot.wire_id
    return dialect.careful and (
        _names_again(slot, fragment) or (another_id and fragment.name == slot.name != "")
    )


def _names_again(slot: Slot, fragment: Fragment) -> bool:
    """Whether it has the name of `slot`, on a wire that has given that no id."""
    return bool(fragment.name) and fragment.name == slot.name and not slot.wire_id
