"""One call while it is put together. Knows nothing of how fragments find it."""

from dataclasses import dataclass, field

from deferred_tools.bridge.arguments import StreamedArguments
from deferred_tools.bridge.fragment import Fragment
from deferred_tools.bridge.lanes import Lane, Place


@dataclass(slots=True, eq=False)
class Assembly:
    """A call's arguments, and what speaks against running it."""

    place: Place
    """Where in the bridge it is identified."""
    lane: Lane
    """Where in the stream it was seen first."""
    arguments: StreamedArguments = field(default_factory=StreamedArguments)
    closed: bool = False
    """Whether the wire said that it ends."""
    conflict: str = ""
    """Why it cannot be told what belongs to it; empty if it can."""
    repeats: "Assembly | None" = None
    """The call of which it is only the name again, unless arguments come."""
    could_be_two: bool = False
    """Whether one without arguments and one with them look the same as it does."""

    @property
    def ended(self) -> bool:
        """Whether nothing is missing."""
        return self.closed or self.arguments.ended

    def doubt(self, problem: str) -> None:
        """Note why it cannot be run; the first reason stands."""
        self.conflict = self.conflict or problem

    def take(self, fragment: Fragment) -> str:
        """Add the arguments that `fragment` brings; what of them is for a preview."""
        if self.closed and not self.arguments.ended and fragment.brings_arguments:
            self.doubt("arguments for it came after its end")
        shown = "" if fragment.arguments is None else self.arguments.add(fragment.arguments)
        if fragment.whole is not None:
            self.arguments.state(fragment.whole)
        self.closed = self.closed or fragment.done
        return shown
