"""Opening a connection: in which generation of the protocol, and when neither will do."""

from email.message import Message
from typing import Any

import pytest

from deferred_tools.sources.base import SourceStatus

pytestmark = pytest.mark.anyio


async def test_a_server_that_lets_nobody_in_is_not_asked_the_old_way(web: Any, start: Any) -> None:
    asked: list[str] = []

    def answer(message: dict[str, Any], _: Message) -> tuple[int, dict[str, str], bytes]:
        asked.append(message["method"])
        if message["method"] == "server/discover":
            return 401, {"www-authenticate": "Bearer"}, b""
        return 400, {}, b"unknown without a protocol version"

    state = await start({"web": {"url": web(answer)}})["web"].settled()
    assert state.status is SourceStatus.AUTH_REQUIRED
    assert asked == ["server/discover"]
