"""Bounds are one frozen value, refused where they make no sense."""

from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import pytest

from deferred_tools import Limits

NAMES = [field.name for field in fields(Limits)]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_no_bound_may_be_zero_less_or_no_number(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"Limits\.{name}"):
        replace(Limits(), **{name: value})


@pytest.mark.parametrize("name", [name for name in NAMES if name != "name_length"])
def test_the_least_bound_is_one(name: str) -> None:
    assert getattr(replace(Limits(), **{name: 1}), name) == 1


def test_names_have_room_for_a_suffix() -> None:
    assert Limits(name_length=16).name_length == 16
    with pytest.raises(ValueError, match=r"Limits\.name_length must be at least 16"):
        Limits(name_length=15)


def test_the_defaults_are_those_that_are_documented() -> None:
    limits = Limits()
    assert (limits.name_length, limits.summary_length, limits.search_limit) == (64, 200, 20)
    assert (limits.schema_bytes, limits.schema_depth, limits.schema_nodes) == (262_144, 64, 10_000)
    assert (limits.enabled_tools, limits.searches_per_turn, limits.query_length) == (64, 8, 4_000)


def test_limits_cannot_be_changed_once_made() -> None:
    name = "name_length"
    with pytest.raises(FrozenInstanceError):
        setattr(Limits(), name, 32)


@pytest.mark.parametrize(("name", "most"), [("enabled_tools", 512), ("searches_per_turn", 256)])
def test_no_more_may_be_asked_of_a_ledger_than_it_holds(name: str, most: int) -> None:
    assert getattr(replace(Limits(), **{name: most}), name) == most
    with pytest.raises(ValueError, match=rf"Limits\.{name} must be at most {most}"):
        replace(Limits(), **{name: most + 1})
