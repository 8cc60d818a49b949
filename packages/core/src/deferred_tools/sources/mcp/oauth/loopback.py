"""Where a browser comes back to after a sign-in: a listener on this machine, for one answer."""

import html
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from http import HTTPStatus
from urllib.parse import parse_qs, urlsplit

import anyio
from anyio.abc import SocketAttribute, SocketStream
from mcp.client.auth import AuthorizationCodeResult

from deferred_tools.sources.mcp.oauth.granting import state_of
from deferred_tools.sources.mcp.oauth.host import OpenRedirect, Redirect, SignInError

_HOST = "127.0.0.1"
_PATH = "/callback"
_REQUEST_BYTES = 16 * 1024
_REQUEST_SECONDS = 5.0
_PAGE = "<!doctype html><title>Sign-in</title><p>{}</p>"

Show = Callable[[str], Awaitable[None]]
"""Brings an address before a person: prints it, opens their browser."""


def loopback(show: Show) -> OpenRedirect:
    """A redirect for `OAuth`: `show` gets the address, the answer arrives on 127.0.0.1."""

    @asynccontextmanager
    async def opened(port: int) -> AsyncIterator[Redirect]:
        listener = await anyio.create_tcp_listener(local_host=_HOST, local_port=port)
        visit = _Visit(show, listener.extra_attributes[SocketAttribute.local_port]())
        trouble: SignInError | None = None
        async with listener, anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, visit.serve)
            try:
                yield visit
            except SignInError as error:
                # Kept out of the task group, which would put it into a group of errors.
                trouble = error
            tasks.cancel_scope.cancel()
        if trouble is not None:
            raise trouble

    return opened


class _Visit:
    """One question, and the listener's side of its answer."""

    def __init__(self, show: Show, port: int) -> None:
        self.uri = f"http://{_HOST}:{port}{_PATH}"
        self._show = show
        self._state = ""
        self._answered = anyio.Event()
        self._answer: dict[str, str] = {}

    async def authorize(self, url: str) -> AuthorizationCodeResult:
        """Show `url`, and wait until the browser is back."""
        self._state = state_of(url)
        await self._show(url)
        await self._answered.wait()
        if "code" not in self._answer:
            raise SignInError("the sign-in was refused in the browser")
        return AuthorizationCodeResult(
            code=self._answer["code"], state=self._state, iss=self._answer.get("iss")
        )

    async def serve(self, stream: SocketStream) -> None:
        """Answer one request; of those that are not the answer nothing is kept."""
        async with stream:
            try:
                with anyio.fail_after(_REQUEST_SECONDS):
                    target = await _target(stream)
                    status, text = self._take(target)
                    await stream.send(_reply(status, text))
            except (TimeoutError, anyio.EndOfStream, anyio.BrokenResourceError):
                return

    def _take(self, target: str) -> tuple[HTTPStatus, str]:
        parts = urlsplit(target)
        answer = {key: values[0] for key, values in parse_qs(parts.query).items()}
        # Any page that the browser shows can send requests here, but does not know the state.
        if parts.path != _PATH or not self._state or answer.get("state") != self._state:
            return (
                HTTPStatus.BAD_REQUEST,
                "This is not the answer to the sign-in that is waited for.",
            )
        if not self._answered.is_set():
            self._answer = answer
            self._answered.set()
        if "code" in self._answer:
            return HTTPStatus.OK, "Signed in. You can close this window."
        return HTTPStatus.OK, "Not signed in. You can close this window."


async def _target(stream: SocketStream) -> str:
    """The target of a GET request; "" for anything else."""
    request = b""
    while b"\r\n\r\n" not in request:
        if len(request) > _REQUEST_BYTES:
            return ""
        request += await stream.receive(_REQUEST_BYTES)
    line = request.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
    return line[1] if line[0] == "GET" and len(line) > 1 else ""


def _reply(status: HTTPStatus, text: str) -> bytes:
    body = _PAGE.format(html.escape(text)).encode()
    head = (
        f"HTTP/1.1 {status.value} {status.phrase}\r\n"
        "Content-Type: text/html; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\n"
        "Cache-Control: no-store\r\n"
        "Referrer-Policy: no-referrer\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode() + body
