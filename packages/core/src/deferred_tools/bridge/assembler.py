"""Fragments of streamed tool calls in, calls out: exact, or explicitly invalid.

Pure and synchronous. Knows no framework, and no provider but by its `Dialect`. Below it: `router`
leads fragments to their calls, `bridge` says who these are, `settling` what becomes of them.
"""

from collections.abc import Callable

from deferred_tools.bridge.dialects import UNKNOWN, Dialect
from deferred_tools.bridge.ending import Ending
from deferred_tools.bridge.events import ArgumentsDelta, Named, Outcome, Progress, Started
from deferred_tools.bridge.fragment import Fragment
from deferred_tools.bridge.minting import MintedIds
from deferred_tools.bridge.policy import OnInvalid
from deferred_tools.bridge.router import CallRouter
from deferred_tools.bridge.settling import Settling, unique_ids
from deferred_tools.bridge.slot import Decoration
from deferred_tools.errors import ConfigurationError


def never_empty(_name: str) -> bool:
    """Whether the tool can be called without arguments: no, as nothing is known of it."""
    return False


class ToolCallAssembler:
    """Puts the tool calls of one message together. One for each message; not for threads.

    Constant time for each fragment, linear time in the text. Only the end of the message tells
    which call was cut off, so every call is settled there: exactly once, in the wire's order.
    """

    def __init__(
        self,
        dialect: Dialect = UNKNOWN,
        *,
        may_be_empty: Callable[[str], bool] = never_empty,
        on_invalid: OnInvalid = OnInvalid.HAND_OVER,
        minted: MintedIds | None = None,
    ) -> None:
        """Take what is known of the wire and of the tools.

        Args:
            dialect: How the wire streams calls.
            may_be_empty: Whether the tool of that name requires no arguments, so that a finished
                call with "", null or nothing as arguments means {}. By default no tool is known,
                and every such call is invalid.
            on_invalid: What `finish` does with invalid calls.
            minted: Where ids for calls without one come from; by default a random namespace.
        """
        self._router = CallRouter(dialect, minted)
        self._may_be_empty = may_be_empty
        self._on_invalid = on_invalid
        self._finished = False

    @property
    def minted_ids(self) -> MintedIds:
        """The counter that ids for calls without one come from."""
        return self._router.bridge.minted_ids

    def feed(self, fragment: Fragment) -> list[Progress]:
        """Take a fragment; what it brought, for a user interface.

        Raises:
            ConfigurationError: The message is finished.
        """
        if self._finished:
            raise ConfigurationError(
                "A fragment came after the end of its message. Make one ToolCallAssembler for "
                "each message, and call `finish` when its stream has ended."
            )
        led = self._router.lead(fragment)
        if led is None:
            return []
        key, before = led.after.key, led.before
        news: list[Progress] = [] if before else [Started(key)]
        if led.after.name != (before.name if before else ""):
            news.append(Named(key, led.after.name))
        if led.shown:
            news.append(ArgumentsDelta(key, led.shown))
        return news

    def decorate(self, decoration: Decoration) -> None:
        """Add to the call with that wire id what it has not got yet; no call, no effect."""
        self._router.bridge.decorate(decoration)

    def finish(self, reason: str | None = None) -> list[Outcome]:
        """Settle every call, in the wire's order; nothing more if it was done before.

        Args:
            reason: The provider's word for why the message ended. After a limit or a filter, the
                last call is invalid, whatever it looks like. None if the wire gave none, or broke.

        Raises:
            InvalidCallsError: There are invalid calls, and they are to be raised.
        """
        if self._finished:
            return []
        self._finished = True
        calls, ending = self._router.calls, Ending.of(reason)
        ended = [
            (calls[place], slot) for place, slot in self._router.bridge.drain_ordered_indexed()
        ]
        settling = Settling(
            ending=ending,
            may_be_empty=self._may_be_empty,
            arguments_lost=self._router.in_doubt
            or any(call.arguments.raw and not slot.name for call, slot in ended),
        )
        last = self._router.last()
        ids = unique_ids([slot for _, slot in ended], self.minted_ids)
        return self._on_invalid.applied_to(
            [
                settling.settle(call, slot, id_, is_last=call in last)
                for (call, slot), id_ in zip(ended, ids, strict=True)
            ]
        )
