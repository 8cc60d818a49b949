"""What is noticed while a registry is put together: what should stop the start, and what not."""

import difflib
from collections.abc import Iterable

from deferred_tools.settings import Settings


class Findings:
    """Collects, so that everything is told at once, with its place in the settings."""

    def __init__(self, settings: Settings, *, strict: bool) -> None:
        """Take the settings; `strict` at the start, when what does not fit should stop it."""
        self._settings = settings
        self._strict = strict
        self.problems: list[str] = []
        self.warnings: list[str] = []

    def stop(self, text: str, *path: str | int) -> None:
        """A problem, whenever it is found."""
        self.problems.append(self._told(text, path))

    def unfit(self, text: str, *path: str | int) -> None:
        """A problem at the start; later a warning, since others' tools come and go."""
        (self.problems if self._strict else self.warnings).append(self._told(text, path))

    def warn(self, text: str, *path: str | int) -> None:
        """Something to be read."""
        self.warnings.append(self._told(text, path))

    def _told(self, text: str, path: tuple[str | int, ...]) -> str:
        return f"{self._settings.where(*path)}: {text}" if path else text


def nearest(name: str, known: Iterable[str]) -> str:
    """A question about the known name that `name` may stand for, or ""."""
    found = difflib.get_close_matches(name, known, 1)
    return f"; did you mean {found[0]!r}?" if found else ""
