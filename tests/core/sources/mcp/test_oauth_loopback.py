"""The listener that a browser comes back to, and what else may knock there."""

import asyncio
from urllib.parse import urlsplit

import pytest
from mcp.client.auth import AuthorizationCodeResult

from deferred_tools.sources.mcp.oauth import Redirect, SignInError
from deferred_tools.sources.mcp.oauth.loopback import loopback

pytestmark = pytest.mark.anyio
QUESTION = "https://auth.example/authorize?state=s%2B1"


async def ask(uri: str, request: bytes) -> bytes:
    """What the listener answers to these bytes."""
    parts = urlsplit(uri)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    writer.write(request)
    answer = await reader.read()
    writer.close()
    return answer


def get(target: str) -> bytes:
    return f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


async def answered(*requests: bytes) -> tuple[list[bytes], AuthorizationCodeResult]:
    """What requests are answered with in this order, and what comes of the question."""
    answers: list[bytes] = []
    opened: list[Redirect] = []

    async def show(url: str) -> None:
        assert url == QUESTION
        answers.extend([await ask(opened[0].uri, request) for request in requests])

    async with asyncio.timeout(20), loopback(show)(0) as redirect:
        opened.append(redirect)
        assert urlsplit(redirect.uri).hostname == "127.0.0.1"
        return answers, await redirect.authorize(QUESTION)


async def test_the_answer_to_the_question_is_taken_and_thanked_for() -> None:
    answers, result = await answered(get("/callback?code=c&state=s%2B1&iss=https%3A%2F%2Fi"))
    assert answers[0].startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"Signed in. You can close this window." in answers[0]
    assert (result.code, result.state, result.iss) == ("c", "s+1", "https://i")


async def test_anything_else_is_turned_away_and_changes_nothing() -> None:
    others = [
        get("/callback?code=evil&state=other"),
        get("/callback?code=evil"),
        get("/?code=evil&state=s%2B1"),
        get("/callback?error=access_denied"),
        b"POST /callback?code=evil&state=s%2B1 HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x00\r\n\r\n",
        b"GET /callback?code=" + b"x" * 40_000,
    ]
    answers, result = await answered(*others, get("/callback?code=c&state=s%2B1"))
    assert all(answer.startswith(b"HTTP/1.1 400 ") for answer in answers[:-1])
    assert result.code == "c"


async def test_what_came_first_stands() -> None:
    first, second = "/callback?code=c&state=s%2B1", "/callback?code=d&state=s%2B1"
    _, result = await answered(get(first), get(second))
    assert result.code == "c"


async def test_a_refusal_is_told_as_one() -> None:
    with pytest.raises(SignInError, match="refused in the browser"):
        await answered(get("/callback?error=%3Cscript%3E&state=s%2B1"))


async def test_a_visitor_who_says_nothing_holds_up_nobody() -> None:
    async def show(url: str) -> None:
        parts = urlsplit(redirect.uri)
        _, silent = await asyncio.open_connection(parts.hostname, parts.port)
        await ask(redirect.uri, get("/callback?code=c&state=s%2B1"))
        silent.close()

    async with asyncio.timeout(20), loopback(show)(0) as redirect:
        assert (await redirect.authorize(QUESTION)).code == "c"
