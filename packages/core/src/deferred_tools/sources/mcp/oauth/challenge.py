"""What a server says when it refuses a request for want of a token, or of a scope. Pure."""

from dataclasses import dataclass
from http import HTTPStatus

import httpx2
from mcp.client.auth.utils import (
    extract_field_from_www_auth,
    extract_resource_metadata_from_www_auth,
    extract_scope_from_www_auth,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """A refusal that a token, another one or one with more scopes would change."""

    resource_metadata: str | None = None
    """Where the server says who signs people in, if it told."""
    scope: str | None = None
    """The scopes that it asks for, separated by blanks."""
    lacking_scope: bool = False
    """Whether the token is fine but for its scopes."""

    def response(self) -> httpx2.Response:
        """The refusal as a server would word it, for the SDK."""
        said = {"scope": self.scope, "resource_metadata": self.resource_metadata}
        parts = ", ".join(f'{name}="{value}"' for name, value in said.items() if value)
        return httpx2.Response(
            HTTPStatus.UNAUTHORIZED, headers={"WWW-Authenticate": f"Bearer {parts}"}
        )


def challenge_of(response: httpx2.Response) -> Challenge | None:
    """What a response asks for; None if it is no such refusal."""
    lacking = (
        response.status_code == HTTPStatus.FORBIDDEN
        and extract_field_from_www_auth(response, "error") == "insufficient_scope"
    )
    if response.status_code != HTTPStatus.UNAUTHORIZED and not lacking:
        return None
    return Challenge(
        resource_metadata=_plain(extract_resource_metadata_from_www_auth(response)),
        scope=_plain(extract_scope_from_www_auth(response)),
        lacking_scope=lacking,
    )


def _plain(value: str | None) -> str | None:
    """A value that may stand in a header again; neither addresses nor scopes hold anything else."""
    if value is None or not (value.isascii() and value.isprintable()) or {*value} & {'"', "\\"}:
        return None
    return value
