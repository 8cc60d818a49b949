"""Requests to whoever signs people in: a server named the address, so nothing is taken as given.

Only https, or this machine when the server itself is on it. Bodies, time and the number of
requests are bounded. What is refused or malformed is told without its text, which may repeat
a code or a token.
"""

import ipaddress
import json
import re
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from http import HTTPStatus

import httpx2
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import BaseModel, ValidationError

from deferred_tools.sources.mcp.oauth.host import SignInError

_BODY_BYTES = 256 * 1024
_REQUESTS = 24
_TIMEOUT = httpx2.Timeout(10.0)
_ERROR_CODE = re.compile(r"[a-z_]{1,40}")
_TRY_AGAIN = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})


class OAuthHttp:
    """Sends the requests of one sign-in or renewal, on behalf of the server at `url`."""

    def __init__(self, client: httpx2.AsyncClient, url: str) -> None:
        self._client = client
        self._may_be_local = _is_loopback(httpx2.URL(url))
        self._left = _REQUESTS

    def check(self, address: str | httpx2.URL) -> None:
        """Whether an address may be talked to, or shown to a person.

        Raises:
            SignInError: It may not.
        """
        url = httpx2.URL(address)
        local = _is_loopback(url)
        if (local and self._may_be_local) or (url.scheme == "https" and not local):
            return
        why = "points back at this machine" if local else "is not https"
        raise SignInError(f"an address that it names for signing in ({origin_of(url)}) {why}")

    async def send(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request and read its answer whole; no redirect is followed.

        Raises:
            SignInError: The address is not allowed, it did not answer, refused, or answered
                with something else than was asked for.
        """
        reply = await self.tell(request)
        if request.method == "POST":
            _vet(request, reply)
        elif reply.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
            at = origin_of(request.url)
            raise SignInError(f"{at} answered HTTP {reply.status_code}", passing=True)
        return reply

    async def tell(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request, whatever the answer may be.

        Raises:
            SignInError: The address is not allowed, or it did not answer.
        """
        self.check(request.url)
        at = origin_of(request.url)
        self._left -= 1
        if self._left < 0:
            raise SignInError(f"it took more than {_REQUESTS} requests, the last to {at}")
        request.headers["Accept-Encoding"] = "identity"
        try:
            return await self._read(request)
        except httpx2.HTTPError as error:
            why = f"{at} cannot be reached ({type(error).__name__})"
            raise SignInError(why, passing=True) from None

    async def _read(self, request: httpx2.Request) -> httpx2.Response:
        response = await self._client.send(request, stream=True, follow_redirects=False)
        body = bytearray()
        try:
            async with aclosing(response.aiter_raw()) as chunks:
                async for chunk in chunks:
                    body += chunk
                    if len(body) > _BODY_BYTES:
                        at = origin_of(request.url)
                        raise SignInError(f"{at} answered with more than {_BODY_BYTES} bytes")
        finally:
            await response.aclose()
        reply = httpx2.Response(
            response.status_code,
            headers={"WWW-Authenticate": response.headers.get("WWW-Authenticate", "")},
            content=bytes(body),
            request=request,
        )
        # The SDK goes where this leads if that is on the same origin.
        reply.next_request = response.next_request
        return reply


@asynccontextmanager
async def oauth_http(url: str) -> AsyncIterator[OAuthHttp]:
    """A client for one sign-in or renewal at the server at `url`; holds none of its headers."""
    async with httpx2.AsyncClient(timeout=_TIMEOUT) as client:
        yield OAuthHttp(client, url)


def origin_of(url: str | httpx2.URL) -> str:
    """Scheme, host and port: what may be shown, and what a token is bound to."""
    parsed = httpx2.URL(url)
    return f"{parsed.scheme}://{parsed.netloc.decode()}"


def _is_loopback(url: httpx2.URL) -> bool:
    if url.host == "localhost" or url.host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(url.host).is_loopback
    except ValueError:
        return False


def _vet(request: httpx2.Request, reply: httpx2.Response) -> None:
    """Let only good tokens and registrations reach the SDK, which quotes and logs bad ones."""
    at = origin_of(request.url)
    form = request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded")
    expected: type[BaseModel] = OAuthToken if form else OAuthClientInformationFull
    what = "to give a token" if form else "to register this client"
    status = reply.status_code
    if status not in {HTTPStatus.OK, HTTPStatus.CREATED}:
        passing = status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in _TRY_AGAIN
        raise SignInError(f"{at} refused {what}: HTTP {status}{_code(reply)}", passing=passing)
    try:
        expected.model_validate_json(reply.content)
    except ValidationError:
        raise SignInError(f"{at} was asked {what}, and answered with something else") from None


def _code(reply: httpx2.Response) -> str:
    """The error code of OAuth, if there is one; a description may hold anything."""
    try:
        code = json.loads(reply.content)["error"]
    except (ValueError, TypeError, LookupError, RecursionError):
        return ""
    return f", {code}" if isinstance(code, str) and _ERROR_CODE.fullmatch(code) else ""
