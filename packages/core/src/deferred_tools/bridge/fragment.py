"""One piece of a streamed tool call, as a wire gave it. Knows nothing of providers."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """What one message of a stream says of one call. Every field may be missing.

    Raises:
        TypeError: A field is of another type; so nothing that is fed to an assembler can fail.
    """

    index: int | str | None = None
    """The wire's index; a number written as text is that number."""
    id: str | None = None
    """The call's id; empty is missing."""
    name: str | None = None
    """The tool's name; empty is missing."""
    arguments: str | bytes | None = field(default=None, repr=False)
    """More of the arguments' JSON text, cut anywhere; bytes are UTF-8, cut anywhere too."""
    whole: str | Mapping[str, object] | None = field(default=None, repr=False)
    """The whole arguments: announced before their text, stated again after it, or instead."""
    done: bool = False
    """Whether the wire says that the call ends here."""

    def __post_init__(self) -> None:
        _check("index", self.index, int, str)
        _check("id", self.id, str)
        _check("name", self.name, str)
        _check("arguments", self.arguments, str, bytes)
        _check("whole", self.whole, str, Mapping)

    @property
    def identifies(self) -> bool:
        """Whether it says an id or a name."""
        return bool(self.id or self.name)

    @property
    def brings_arguments(self) -> bool:
        """Whether there is any part of arguments in it but blanks."""
        text = self.arguments
        return bool(self.whole) or bool(text and not text.isspace())


def _check(what: str, value: object, *types: type) -> None:
    if value is not None and not isinstance(value, types):
        raise TypeError(f"Fragment.{what} cannot be of type {type(value).__name__}")
