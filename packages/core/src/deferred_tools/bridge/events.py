"""What an assembler says of a stream of calls. Knows nothing of how it is found out.

While the stream runs: `Started`, `Named`, `ArgumentsDelta`, for user interfaces. At its end, for
each call exactly one of `Complete` and `Invalid`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Reason(StrEnum):
    """Why a call cannot be run."""

    TRUNCATED = "truncated"
    """It, or the message, was cut off before its arguments ended."""
    UNPARSEABLE = "unparseable"
    """What came as its arguments is no JSON object."""
    NO_NAME = "no_name"
    """No tool was named."""
    CONFLICTING = "conflicting"
    """What came of it says different things, or may be of different calls."""


@dataclass(frozen=True, slots=True)
class Started:
    """A call was seen for the first time."""

    key: str
    """The same for all events of the call, and for none of another call."""


@dataclass(frozen=True, slots=True)
class Named:
    """The tool's name became known."""

    key: str
    name: str


@dataclass(frozen=True, slots=True)
class ArgumentsDelta:
    """More of the arguments' text; for previews only, nothing is to be run by it."""

    key: str
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Complete:
    """The call as it was meant, safe to run as far as its transport goes."""

    key: str
    id: str
    """The provider's id, or the minted key where there is none; unique in the message."""
    name: str
    arguments: dict[str, Any] = field(repr=False)
    signature: str | None = None
    params: Mapping[str, object] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Invalid:
    """A call that must not be run, and why."""

    key: str
    id: str
    name: str
    """Empty if no tool was named."""
    reason: Reason
    problem: str
    """A clause that goes on from "it was not run: "; names no value of the arguments."""
    raw: str = field(repr=False)
    """What came of the arguments, unchanged."""
    signature: str | None = None
    params: Mapping[str, object] | None = field(default=None, repr=False)

    @property
    def message(self) -> str:
        """What to tell the model: what happened, and what to do next."""
        which = f"Your call of {self.name!r}" if self.name else "One of your tool calls"
        return f"{which} was not run: {self.problem}. {_CURES[self.reason]}"


_CURES = {
    Reason.TRUNCATED: "Call it again, with shorter arguments if they were long.",
    Reason.UNPARSEABLE: "Call it again, with a JSON object as its arguments.",
    Reason.NO_NAME: "Call it again, with the name of the tool.",
    Reason.CONFLICTING: "Call it again, by itself.",
}

Progress = Started | Named | ArgumentsDelta
"""What `ToolCallAssembler.feed` gives."""
Outcome = Complete | Invalid
"""What `ToolCallAssembler.finish` gives."""
