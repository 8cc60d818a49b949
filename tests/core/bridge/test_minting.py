"""Minted ids are unique, and nobody else's."""

import re

import pytest

from deferred_tools.bridge import MintedIds
from deferred_tools.errors import ConfigurationError


def test_minted_ids_differ_and_are_what_providers_accept() -> None:
    minted = MintedIds()
    ids = [minted.mint() for _ in range(100)]
    assert len(set(ids)) == 100
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,40}", id_) for id_ in ids)


def test_a_namespace_makes_ids_repeatable_and_none_makes_them_unique() -> None:
    assert MintedIds("m1").mint() == MintedIds("m1").mint()
    assert MintedIds().mint() != MintedIds().mint()


def test_ids_of_the_namespace_are_known_and_others_are_not() -> None:
    minted = MintedIds("m1")
    assert minted.owns(minted.mint())
    assert minted.owns("call_m1_99")
    assert not minted.owns("call_m2_0")


@pytest.mark.parametrize("namespace", ["", "a b", "a_b", "x" * 25])
def test_a_namespace_that_providers_would_refuse_is_refused(namespace: str) -> None:
    with pytest.raises(ConfigurationError, match="1 to 24 letters"):
        MintedIds(namespace)
