"""The calls whose arguments have not ended, and fragments that could be of several of them."""

from deferred_tools.bridge.assembly import Assembly
from deferred_tools.bridge.lanes import WITHOUT_INDEX, Lane, Place

_PROBLEM = "it cannot be told which of several calls some arguments were for"


class OpenCalls:
    """Constant time for each fragment: calls are doubted once, and from then on there is doubt."""

    def __init__(self) -> None:
        self._all: dict[Place, Assembly] = {}
        self._at: dict[Lane, dict[Place, Assembly]] = {}
        self.in_doubt = False
        """Whether some arguments could not be told to be of one call."""

    def note(self, call: Assembly) -> None:
        """See whether `call` is open; to be told after each change of it."""
        here = self._at.setdefault(call.lane, {})
        if call.ended:
            self._all.pop(call.place, None)
            here.pop(call.place, None)
        else:
            self._all[call.place] = here[call.place] = call

    def only_without_index(self) -> Assembly | None:
        """The open call, if there is exactly one and it has no index."""
        if len(self._all) != 1:
            return None
        [call] = self._all.values()
        return call if call.lane[0] == WITHOUT_INDEX else None

    def claim(self, call: Assembly, lane: Lane | None) -> None:
        """Let `call` have arguments that came at `lane` without a name or a known id.

        If they could be another's, all that they could be of are doubted.
        """
        candidates = self._all if lane is None else self._at.get(lane, {})
        others = len(candidates) - (call.place in candidates)
        if others and not self.in_doubt:
            self.in_doubt = True
            for other in candidates.values():
                other.doubt(_PROBLEM)
        if self.in_doubt:
            call.doubt(_PROBLEM)
