"""What evaluating a CEL expression will cost, counted beforehand. Pure; knows no CEL library.

The library has no bounds of its own, holds the GIL while it evaluates, copies a value wherever a
path reaches it, and copies all that `map` and `filter` have gathered so far at every round: 10,000
objects through one `map` were seen to take a minute. So the plan of the expression is walked with
upper bounds for the input at hand.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any

from deferred_tools.mapping.plan import (
    CHARACTERS_PER_STEP,
    Close,
    Group,
    Open,
    Over,
    Plain,
    Plan,
    Reference,
)

# The library reads a value from Python many times slower than it copies one.
_STEPS_TO_READ = 5


def count_steps(plan: Plan, variables: Mapping[str, Any], most: int) -> int:
    """How many steps, of up to 0.7 µs, it takes at most; stops counting past `most`.

    Rather too many than too few. A value weighs no more than all that it refers to, as often as it
    does: so the count bounds memory too.
    """
    count = _Count(variables)
    for part in plan:
        if count.steps > most:
            break
        match part:
            case Plain():
                count.plain(part)
            case Reference():
                count.reference(part)
            case Group():
                count.group(part)
            case Open():
                count.open(part.over)
            case Close():
                count.close(part.kind)
    return count.steps


@dataclass(frozen=True, slots=True)
class _Loop:
    """Upper bounds for one loop: over all of its runs, unless it says otherwise."""

    most: int
    """Rounds of one run."""
    total: int
    """Rounds."""
    weight: int
    """Of all values that its variable takes."""
    repeats: int
    """How often it meets one part of the input; 0: its values are not all parts of the input."""
    longest: int
    """The longest list inside its values."""


@dataclass(slots=True)
class _Made:
    """What some stretch of the expression may have made, whatever its operators."""

    weight: int = 0
    longest: int = 0
    repeats: int = 0
    foreign: int = 0
    """How much in it is not simply parts of the input."""

    def since(self, before: "_Made") -> "_Made":
        return _Made(
            self.weight - before.weight,
            self.longest - before.longest,
            self.repeats - before.repeats,
            self.foreign - before.foreign,
        )


@dataclass(slots=True)
class _Input:
    """What is known of the input by the names of its keys, wherever they are."""

    longest: int = 1
    weights: dict[str, int] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)

    def add(self, value: Any) -> int:
        """Take note of `value`, whose weight this returns."""
        if isinstance(value, str):
            return 1 + len(value) // CHARACTERS_PER_STEP
        if not isinstance(value, list | dict):
            return 1
        self.longest = max(self.longest, len(value))
        if isinstance(value, list):
            return 1 + sum(map(self.add, value))
        total = 1
        for key, item in value.items():
            weight = self.add(item)
            self.weights[key] = self.weights.get(key, 0) + weight
            if isinstance(item, list | dict):
                self.lengths[key] = max(self.lengths.get(key, 1), len(item))
            total += weight + 1 + len(key) // CHARACTERS_PER_STEP
        return total


class _Count:
    """One walk over a plan."""

    def __init__(self, variables: Mapping[str, Any]) -> None:
        self._input = _Input()
        weight = self._input.add(variables)
        self.steps = weight * _STEPS_TO_READ
        self._loops = [_Loop(1, 1, weight, 1, self._input.longest)]
        self._made = _Made()
        self._before: list[_Made] = []  # each group and loop that is open
        self._group = self._made
        self._closed = self._loops[0]

    def plain(self, part: Plain) -> None:
        total = self._loops[-1].total
        self.steps += part.steps * total
        self._made.weight += part.size * total
        self._made.longest += 1
        self._made.foreign += part.builds

    def reference(self, part: Reference) -> None:
        loop = self._loops[part.level]
        ends = range(1, len(part.path) + 1)
        weights = [self._weight(part.level, part.path[:end]) for end in ends or (0,)]
        self.steps += sum(weights)
        self._made.weight += weights[-1]
        self._made.longest += loop.longest
        self._made.repeats += loop.repeats * self._times(part.level)
        self._made.foreign += not loop.repeats

    def group(self, part: Group) -> None:
        if part.begins:
            self._before.append(replace(self._made))
        else:
            self._group = self._made.since(self._before.pop())

    def open(self, over: Over) -> None:
        loop = self._opened(over)
        self.steps += loop.total
        self._before.append(replace(self._made))
        self._loops.append(loop)

    def close(self, kind: str) -> None:
        loop = self._loops.pop()
        made = self._made.since(self._before.pop())
        if kind == "map":
            self._closed = replace(loop, weight=made.weight, longest=made.longest, repeats=0)
        else:
            self._closed = loop
        if kind in {"map", "filter"}:
            self.steps += self._closed.weight * loop.most // 2

    def _opened(self, over: Over) -> _Loop:
        total = self._loops[-1].total
        if isinstance(over, Reference):
            of = self._loops[over.level]
            weight = self._weight(over.level, over.path)
            most = of.longest
            if of.repeats and over.path and over.path[-1]:
                most = self._input.lengths.get(over.path[-1], 1)
            repeats = of.repeats * self._times(over.level)
            return _Loop(most, min(total * most, weight), weight, repeats, of.longest)
        if over in {"map", "filter"}:
            return self._closed
        made = self._group if over == "group" else self._made
        repeats = 0 if made.foreign else made.repeats
        rounds = min(total * made.longest, made.weight)
        return _Loop(made.longest, rounds, made.weight, repeats, made.longest)

    def _weight(self, level: int, path: tuple[str, ...]) -> int:
        loop = self._loops[level]
        weight = loop.weight
        key = next((key for key in reversed(path) if key), "")
        if key and loop.repeats:
            weight = min(weight, loop.repeats * self._input.weights.get(key, 1))
        return weight * self._times(level)

    def _times(self, level: int) -> int:
        """How often the innermost loop meets one value of the loop `level`."""
        return min(prod(loop.most for loop in self._loops[level + 1 :]), self._loops[-1].total)
