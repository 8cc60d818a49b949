"""Whose token it is."""

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools import Caller
from deferred_tools.gateway.tokens import whose

ANN, BOB = Caller.principal("ann"), Caller.principal("bob")
KNOWN = {sha256(token).hexdigest(): who for token, who in ((b"one", ANN), (b"two", BOB))}


@pytest.mark.parametrize(
    ("headers", "caller"),
    [
        (["Bearer one"], ANN),
        (["bearer  two "], BOB),
        ([], None),
        (["Bearer one", "Bearer one"], None),
        (["Basic one"], None),
        (["one"], None),
        (["Bearer"], None),
        (["Bearer one two"], None),
        ([f"Bearer {sha256(b'one').hexdigest()}"], None),
        (["Bearer \udcff"], None),
    ],
)
def test_a_token_is_known_by_its_hash(headers: list[str], caller: Caller | None) -> None:
    assert whose(headers, KNOWN) == caller


@given(st.text(alphabet=st.characters(max_codepoint=255)))
def test_no_other_header_lets_anybody_in(header: str) -> None:
    found = whose([header], KNOWN)
    assert found is None or header.split()[1] in {"one", "two"}
