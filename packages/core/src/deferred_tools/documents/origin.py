"""Where a document came from and where its keys stand, for errors that people can act on. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from deferred_tools.errors import ConfigurationError

KeyPath = tuple[str | int, ...]
"""Keys and indexes from the root of a document."""

Problem = tuple[KeyPath, str]
"""Where in a document, and what is wrong there and what to do about it."""

KeyLine = tuple[KeyPath, int]
"""A key that is written in a document, and its line, from 1."""


class UnreadableError(ValueError):
    """A text that no document can be read from; says where and why, but not of which file."""


@dataclass(frozen=True)
class Origin:
    """A document's file and the lines of its keys; neither for a document made in code.

    All origins are equal: what two files say is equal if it is the same.
    """

    file: str = field(default="", compare=False)
    """The path as it was given; "" without a file."""
    keys: tuple[KeyLine, ...] = field(default=(), compare=False, repr=False)
    """Every key that is written, in order; one that is written twice comes twice."""
    called: str = field(default="the settings", compare=False)
    """What the document is called if it has no file."""

    def where(self, path: KeyPath) -> str:
        """What to call a place: `tools.yaml, line 12: overrides.send_mail.tool`, as far as known.

        A place without a line of its own has that of the key around it.
        """
        if not self.file:
            return self._place(path)
        joint = ", " if self._line(path) else ": "
        return joint.join(filter(None, (self.file, self._place(path))))

    def error(self, problems: Iterable[Problem] = ()) -> ConfigurationError:
        """All `problems` and the repeated keys, as one error to raise; by line."""
        found = sorted((*problems, *self.repeated), key=lambda problem: self._line(problem[0]) or 0)
        told = [
            "\n  - " + ": ".join(filter(None, (self._place(path), text))) for path, text in found
        ]
        whole = self.file or self.called
        return ConfigurationError(f"{len(told)} problem(s) in {whole}:{''.join(told)}")

    @cached_property
    def repeated(self) -> tuple[Problem, ...]:
        """The outermost keys that are written twice, of which the last would silently win."""
        first: dict[KeyPath, int] = {}
        twice: dict[KeyPath, int] = {}
        for path, line in self.keys:
            if path in first:
                twice.setdefault(path, first[path])
            first.setdefault(path, line)
        return tuple(
            (path, f"is written more than once, first on line {line}; keep one of them")
            for path, line in twice.items()
            if path[:-1] not in twice
        )

    def _place(self, path: KeyPath) -> str:
        keys = ".".join(map(_shown, path))
        line = self._line(path)
        return f"line {line}: {keys}" if line else keys

    def _line(self, path: KeyPath) -> int | None:
        ends = range(len(path), 0, -1)
        return next(filter(None, (self._lines.get(path[:end]) for end in ends)), None)

    @cached_property
    def _lines(self) -> dict[KeyPath, int]:
        lines: dict[KeyPath, int] = {}
        for path, line in self.keys:
            # `a.b = 1` of TOML is the place of `a` too, unless that is written itself.
            for end in range(1, len(path)):
                lines.setdefault(path[:end], line)
        return lines | dict(self.keys)


def _shown(step: str | int) -> str:
    text = str(step)
    return text if text and text.isprintable() else repr(step)
