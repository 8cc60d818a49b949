"""What a refusal says, whatever it says it with."""

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.sources.mcp.oauth.challenge import Challenge, challenge_of


@pytest.mark.parametrize(
    ("status", "header", "found"),
    [
        (200, 'Bearer scope="a"', None),
        (403, "", None),
        (403, 'Bearer error="invalid_token"', None),
        (401, "", Challenge()),
        (401, 'Bearer scope="a b"', Challenge(scope="a b")),
        (401, "Bearer resource_metadata=https://x/y", Challenge(resource_metadata="https://x/y")),
        (
            403,
            'Bearer error="insufficient_scope", scope="w"',
            Challenge(scope="w", lacking_scope=True),
        ),
    ],
)
def test_a_refusal_tells_what_a_token_would_change(
    status: int, header: str, found: Challenge | None
) -> None:
    response = httpx2.Response(status, headers={"WWW-Authenticate": header})
    assert challenge_of(response) == found


@given(header=st.binary(max_size=80), scope=st.binary(max_size=40))
def test_any_refusal_can_be_worded_again(header: bytes, scope: bytes) -> None:
    raw = b"Bearer " + header + b', scope="' + scope + b'"'
    found = challenge_of(httpx2.Response(401, headers=[(b"WWW-Authenticate", raw)]))
    assert found is not None
    again = challenge_of(found.response())
    assert again is not None
    assert again.scope == (found.scope or None)
