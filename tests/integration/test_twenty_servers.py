"""Twenty servers of which two are bad: the others are there as if these were not."""

import time
from pathlib import Path

from deferred_tools import Limits, SourceState, SourceStatus, Toolset
from deferred_tools.hookspecs import hookimpl
from tests.integration.calling import call, toolset_of
from tests.integration.published import Entry, OverHttp, reference
from tests.support.command import DIES, MUTE
from tests.support.servers import raw

REFUSES = {"url": "http://127.0.0.1:9/mcp"}
GOOD = 18


class Heard:
    """When each source was ready first. A plugin."""

    def __init__(self) -> None:
        self.ready: dict[str, float] = {}

    @hookimpl
    def deferred_tools_source_changed(self, source: str, state: SourceState) -> None:
        if state.status is SourceStatus.READY:
            self.ready.setdefault(source, time.monotonic())


def slow(entry: Entry) -> Entry:
    """The same, a second later."""
    return {
        "command": "sh",
        "args": ["-c", 'sleep 1; exec "$@"', "sh", entry["command"], *entry["args"]],
    }


def over_stdio(number: int) -> dict[str, Entry]:
    tools = {"echo": "text:Echo: hi"}
    servers = {f"local{n}": raw(tools=tools) for n in range(number)}
    return servers | {"local0": slow(servers["local0"])}


def check(toolset: Toolset, good: dict[str, Entry]) -> None:
    for name in good:
        assert call(toolset, f"{name}__echo", message="hi").text == "Echo: hi"
    ready = [s for s in toolset.status()["sources"].values() if s["status"] == "ready"]
    assert len(good) == len(ready) == GOOD


def test_two_that_fail_hold_nobody_up(npm: Path, tmp_path: Path) -> None:
    http = reference(npm, "everything", "streamableHttp", PORT="{port}")
    with OverHttp(http, tmp_path / "log") as server:
        good = over_stdio(12) | {f"remote{n}": {"url": server.url} for n in range(6)}
        heard = Heard()
        servers = {"dies": DIES, **good, "refuses": REFUSES}
        with toolset_of(servers, plugins=[heard]) as toolset:
            assert time.monotonic() - max(heard.ready.values()) < 1
            check(toolset, good)


def test_two_that_never_answer_hold_the_others_up_as_long_as_the_host_allows() -> None:
    good, heard = over_stdio(GOOD), Heard()
    limits = Limits(quiet_seconds=0.5)
    servers = {"mute": MUTE, **good, "silent": MUTE}
    with toolset_of(servers, plugins=[heard], limits=limits) as toolset:
        assert time.monotonic() - max(heard.ready.values()) < 1
        check(toolset, good)
