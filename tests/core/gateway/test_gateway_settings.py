"""The gateway's own part of the settings."""

from hashlib import sha256
from typing import Any

import pytest

from deferred_tools import Caller, Settings
from deferred_tools.errors import ConfigurationError
from deferred_tools.policy import CallerKind

HASH = sha256(b"secret-token").hexdigest()


def test_a_token_stands_for_a_caller() -> None:
    told = {"name": "ci", "roles": ["build"], "allow": ["mail__*"], "agent": "writer"}
    settings = Settings.from_dict({"gateway": {"tokens": {HASH: told}}})
    assert settings.gateway.tokens[HASH].caller == Caller(
        kind=CallerKind.PRINCIPAL,
        name="ci",
        roles=("build",),
        allow=("mail__*",),
        agent="writer",
    )


@pytest.mark.parametrize(
    ("gateway", "told"),
    [
        ({"tokens": {"secret-token": {}}}, "gateway.tokens: key 1 is not the SHA-256"),
        ({"tokens": {HASH.upper(): {}}}, "64 lower-case hex digits"),
        ({"tokens": {HASH: {"alow": ["x"]}}}, "unknown key; did you mean 'allow'?"),
        ({"tokens": {HASH: {"kind": "boss"}}}, "must be one of 'root'"),
        ({"tokens": {HASH: {"allow": ["*x"]}}}, "must be a name, 'prefix*' or '*'"),
        ({"tokens": [HASH]}, "must be an object, not an array"),
        ({"pinned": ["send", "mail/send", "/send", "mail/"]}, "3 problem"),
        ({"hosts": [""]}, "must not be empty"),
    ],
)
def test_a_mistake_is_told_and_no_token(gateway: dict[str, Any], told: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        Settings.from_dict({"gateway": gateway})
    assert told in str(raised.value)
    assert "secret-token" not in str(raised.value)
