"""What a host wants done with calls that cannot be run."""

from collections.abc import Sequence
from enum import Enum, auto

from deferred_tools.bridge.events import Complete, Invalid, Outcome
from deferred_tools.errors import ModelError


class OnInvalid(Enum):
    """What `ToolCallAssembler.finish` does with them."""

    HAND_OVER = auto()
    """Give them with the raw text, in their place among the others."""
    DROP = auto()
    """Leave them out."""
    RAISE = auto()
    """Raise `InvalidCallsError`, which carries the others as well."""

    def applied_to(self, outcomes: Sequence[Outcome]) -> list[Outcome]:
        """What of `outcomes` to hand over.

        Raises:
            InvalidCallsError: Some are invalid, and that is to be raised.
        """
        if self is OnInvalid.DROP:
            return [outcome for outcome in outcomes if isinstance(outcome, Complete)]
        if self is OnInvalid.RAISE and any(isinstance(outcome, Invalid) for outcome in outcomes):
            raise InvalidCallsError(outcomes)
        return list(outcomes)


class InvalidCallsError(ModelError):
    """Some calls of a message cannot be run; `outcomes` holds all of its calls, in order."""

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        self.outcomes = tuple(outcomes)
        super().__init__(" ".join(it.message for it in outcomes if isinstance(it, Invalid)))
