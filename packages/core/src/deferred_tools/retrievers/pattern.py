r"""Regular expressions from a model, made safe: what is accepted takes a bounded time.

Python's `re` goes back over what it matched and has no deadline. So a pattern is first written
out as plain alternatives, which leave it no choice but how long one run is:

- literals, `.`, classes, `\d \w \s \b`, escaped punctuation, `^` and `$`;
- `|` and groups, which are multiplied out, within `ALTERNATIVES`;
- `.*` and `.+`, which never go back: the first place where the rest fits is as good as any;
- `?` and `{m,n}`; one `*` or `+` on one character between two `.*`, at most `RUN` long.

Anything else (look-around, back-references, quantified groups) is not accepted.
"""

import re
from dataclasses import dataclass

LENGTH = 200
"""Characters of a pattern."""
ALTERNATIVES = 16
"""Plain alternatives that a pattern may stand for."""
PIECES = 250
"""Characters to match in all alternatives together."""
RUN = 20
"""Characters that `*` or `+` may take, and the most that `{m,n}` may ask for."""

_GAP = ".*"
_ATOM = re.compile(
    r"\\[dwsDWSbB]|\\[^\w\s]|\[\^?(?:\\[dwsDWS]|\\[^\w\s]|[^\\\[\]])+\]|[^\\\[\](){}*+?|]",
    re.DOTALL,
)
_QUANTIFIER = re.compile(r"(?:[*+?]|\{(\d{1,2})(,?)(\d{0,2})\})\??")
_OPEN = re.compile(r"\((?:\?:)?(?!\?)")
_SET_OPERATORS = ("--", "&&", "~~", "||")
_ZERO_WIDTH = ("^", "$", r"\b", r"\B")

_Branch = tuple[str, ...]


class UnsafeError(ValueError):
    """The pattern is not one of those whose time is bounded."""


def compile_safe(pattern: str) -> re.Pattern[str]:
    """`pattern` for searching, whatever its case. Raises UnsafeError."""
    pattern = pattern.removeprefix("(?i)")
    if len(pattern) > LENGTH:
        raise UnsafeError(f"longer than {LENGTH} characters")
    reader = _Reader(pattern)
    branches = reader.alternatives()
    if reader.at < len(pattern):
        raise UnsafeError(f"{pattern[reader.at]!r} at {reader.at}")
    whole = "|".join(map(_written, branches))
    try:
        return re.compile(rf"\A(?:{whole})", re.IGNORECASE | re.MULTILINE | re.DOTALL)
    except re.error as error:
        raise UnsafeError(str(error)) from error


def _written(branch: _Branch) -> str:
    """A plain alternative as a pattern that looks for its pieces from left to right."""
    segments: list[list[str]] = [[]]
    for piece in branch:
        if piece == _GAP:
            segments.append([])
        else:
            segments[-1].append(piece)
    for segment in segments:
        if sum(1 for piece in segment if piece.endswith("}?")) > 1:
            raise UnsafeError("two repetitions without `.*` between them")
    return "".join(f"(?>.*?{''.join(segment)})" for segment in segments)


@dataclass
class _Reader:
    """Reads a pattern from left to right into its plain alternatives."""

    pattern: str
    at: int = 0

    def alternatives(self) -> list[_Branch]:
        branches = self._sequence()
        while self.pattern.startswith("|", self.at):
            self.at += 1
            branches = _bounded([*branches, *self._sequence()])
        return branches

    def _sequence(self) -> list[_Branch]:
        branches: list[_Branch] = [()]
        while self.at < len(self.pattern) and self.pattern[self.at] not in "|)":
            parts = self._item()
            branches = _bounded([(*left, *right) for left in branches for right in parts])
        return branches

    def _item(self) -> list[_Branch]:
        opened = _OPEN.match(self.pattern, self.at)
        if opened:
            self.at = opened.end()
            group = self.alternatives()
            if not self.pattern.startswith(")", self.at):
                raise UnsafeError("a group that is not closed")
            self.at += 1
            return self._quantified_group(group)
        atom = _ATOM.match(self.pattern, self.at)
        if not atom or any(operator in atom[0] for operator in _SET_OPERATORS):
            raise UnsafeError(f"{self.pattern[self.at]!r} at {self.at}")
        self.at = atom.end()
        return self._quantified(atom[0])

    def _quantified_group(self, group: list[_Branch]) -> list[_Branch]:
        quantifier = self._quantifier()
        if not quantifier:
            return group
        if quantifier[0][0] != "?":
            raise UnsafeError("a repeated group")
        return [(), *group]

    def _quantified(self, atom: str) -> list[_Branch]:
        quantifier = self._quantifier()
        if not quantifier:
            return [(atom,)]
        if atom in _ZERO_WIDTH:
            raise UnsafeError("a repeated position")
        sign = quantifier[0][0]
        if sign == "?":
            return [(), (atom,)]
        if sign == "{":
            least = int(quantifier[1])
            most = int(quantifier[3] or RUN) if quantifier[2] else least
        else:
            least, most = int(sign == "+"), RUN
        if not least <= most <= RUN:
            raise UnsafeError(f"a repetition of more than {RUN}, or of less than nothing")
        fixed = (atom,) * least
        if atom == "." and sign in "*+":
            return [(*fixed, _GAP)]
        return [(*fixed, f"{atom}{{0,{most - least}}}?") if most > least else fixed]

    def _quantifier(self) -> re.Match[str] | None:
        quantifier = _QUANTIFIER.match(self.pattern, self.at)
        if quantifier:
            self.at = quantifier.end()
        return quantifier


def _bounded(branches: list[_Branch]) -> list[_Branch]:
    if len(branches) > ALTERNATIVES or sum(map(len, branches)) > PIECES:
        raise UnsafeError("too many alternatives")
    return branches
