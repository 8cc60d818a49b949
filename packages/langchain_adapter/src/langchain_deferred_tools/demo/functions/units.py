"""Conversion between units of measure."""

from typing import Literal

_METRES = {"mm": 0.001, "cm": 0.01, "m": 1.0, "km": 1000.0, "in": 0.0254, "ft": 0.3048}
_METRES |= {"yd": 0.9144, "mi": 1609.344}
Length = Literal["mm", "cm", "m", "km", "in", "ft", "yd", "mi"]


def convert_length(value: float, unit: Length, to: Length) -> float:
    """Convert a length between metric and imperial units, for example miles to kilometres."""
    return value * _METRES[unit] / _METRES[to]


def convert_temperature(value: float, unit: Literal["C", "F"], to: Literal["C", "F"]) -> float:
    """Convert a temperature between degrees Celsius and Fahrenheit."""
    if unit == to:
        return value
    return value * 9 / 5 + 32 if unit == "C" else (value - 32) * 5 / 9
