"""What words mean: a small static model, in the package, that needs no library.

A text is the sum of the vectors of its stems, so order and grammar say nothing. The vectors were
fitted to those of a sentence model, offline, by `tools/fit_meaning.py`, which says how and prints
how much they help; beside shared words they bring paraphrases nearer.
"""

import gzip
import json
import sys
from array import array
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from math import sqrt
from operator import mul
from typing import NamedTuple

_LANES = "I"
_WIDTH = array(_LANES).itemsize
_ZERO = 128
"""What is added to a number so that it is not negative."""


class Vector(NamedTuple):
    """The direction of a text."""

    numbers: "array[int]"
    """Whole numbers from -127 to 127."""
    length: float


class Meaning:
    """A vector for each of some thousand stems. Threads may share one."""

    def __init__(self, stems: Sequence[str], rows: bytes, dimensions: int) -> None:
        """Take the numbers of each stem, a byte each, 128 standing for 0."""
        self._rows = rows
        self._dimensions = dimensions
        self._starts = {stem: at * dimensions for at, stem in enumerate(stems)}
        self._packed: dict[str, int] = {}

    def __contains__(self, stem: object) -> bool:
        return stem in self._starts

    def vector(self, counts: Mapping[str, int]) -> Vector | None:
        """The direction of a text with so many of each stem; None if none of them is known."""
        total = weight = 0
        for stem, count in counts.items():
            if stem in self._starts:
                total += count * self._lanes(stem)
                weight += count
        if not weight:
            return None
        lanes = array(_LANES, total.to_bytes(_WIDTH * self._dimensions, sys.byteorder))
        zero = _ZERO * weight
        scale = 127 / (max(max(lanes) - zero, zero - min(lanes)) or 1)
        numbers = array("b", [round((lane - zero) * scale) for lane in lanes])
        return Vector(numbers, sqrt(sum(map(mul, numbers, numbers))) or 1.0)

    def _lanes(self, stem: str) -> int:
        """The numbers of a stem side by side in one, so that one addition adds them all."""
        packed = self._packed.get(stem)
        if packed is None:
            start = self._starts[stem]
            # As a list: of bytes, an array would take several for one number.
            row = array(_LANES, list(self._rows[start : start + self._dimensions]))
            packed = self._packed[stem] = int.from_bytes(row.tobytes(), sys.byteorder)
        return packed


def likeness(one: Vector, other: Vector) -> float:
    """The cosine between two vectors, from -1 to 1."""
    return products(one, [other])[0] / (one.length * other.length)


def products(one: Vector, others: Sequence[Vector]) -> list[float]:
    """The products of the numbers of `one` and of each of `others`."""
    numbers = tuple(one.numbers)  # read more quickly than an array, time and again
    return [float(sum(map(mul, numbers, other.numbers))) for other in others]


@cache
def read_meaning() -> Meaning:
    """The model of the package. Takes some milliseconds, once."""
    packed = files("deferred_tools.retrievers").joinpath("data/meaning.gz").read_bytes()
    head, stems, rows = gzip.decompress(packed).split(b"\n\n", 2)
    return Meaning(stems.decode().split("\n"), rows, json.loads(head)["dimensions"])
