"""Where in a stream calls are. Knows nothing of calls."""

Lane = tuple[int, int]
"""Its kind (an index, a text as index, no index), then its number."""
Place = tuple[int, int, int]
"""One call's own, as a lane may be used again. In the order of the wire."""

WITHOUT_INDEX = 2
"""The kind of a lane for one call without index."""
_INDEX, _TEXT = 0, 1
_LONGEST_NUMBER = 9


class Lanes:
    """Turns the indexes of a wire into lanes."""

    def __init__(self) -> None:
        self._texts: dict[str, int] = {}
        self._without = 0

    def of(self, index: int | str | None) -> Lane | None:
        """The lane of an index, "1" being 1; None if there is none."""
        if index is None or index == "":
            return None
        if isinstance(index, int):
            return (_INDEX, index)
        if index.isascii() and index.isdecimal() and len(index) <= _LONGEST_NUMBER:
            return (_INDEX, int(index))
        return (_TEXT, self._texts.setdefault(index, len(self._texts)))

    def new(self) -> Lane:
        """A lane for a call without index."""
        self._without += 1
        return (WITHOUT_INDEX, self._without)
