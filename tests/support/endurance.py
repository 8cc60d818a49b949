"""What is promised of a source whatever its server does, held against a hostile one."""

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deferred_tools.limits import Limits
from deferred_tools.sources.base import SourceState, SourceStatus, ToolResult
from tests.support.faults import BOUNDS, CALLING, LISTING, SHAKING, Fault
from tests.support.servers import raw

CANARY = "canary-7d20-secret"
REPOSITORY = Path(__file__).parents[2]
MARGIN = 0.5
QUICK = 0.01
CLOSING = 5.0
CALLS = 3


@asynccontextmanager
async def hostile(
    fault: Fault, way: str, folder: Path, **more: Any
) -> AsyncIterator[dict[str, Any]]:
    """The entry of a server with this fault; over HTTP, the server itself runs meanwhile."""
    script = {
        "fault": fault.fault,
        "at": fault.at,
        "canary": CANARY,
        "ledger": str(folder / "ledger"),
        "pids": str(folder / "pids"),
        **more,
    }
    args = ["-E", "-s", "-S", "-m", f"tests.support.hostile_{way}", json.dumps(script)]
    if way == "stdio":
        where = {"command": sys.executable, "args": args, "cwd": str(REPOSITORY)}
        yield {**where, "env": {"TOKEN": CANARY}}
        return
    command = [sys.executable, *args]
    process = await asyncio.to_thread(
        subprocess.Popen, command, cwd=REPOSITORY, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        port = int(await asyncio.to_thread(process.stdout.readline))
        headers = {"Authorization": f"Bearer {CANARY}"}
        yield {"url": f"http://127.0.0.1:{port}/mcp", "headers": headers}
    finally:
        process.kill()
        process.stdout.close()
        await asyncio.to_thread(process.wait)


async def endure(
    fault: Fault,
    way: str,
    start: Callable[..., Any],
    *,
    folder: Path,
    beside: "Neighbour",
    seed: int,
) -> None:
    """Let a source meet a fault beside a healthy server, and check all that is promised."""
    async with hostile(fault, way, folder, seed=seed) as entry:
        bounds = BOUNDS | fault.bounds
        limits = Limits(**bounds)
        began = time.monotonic()
        bad = start({"bad": entry}, **bounds)["bad"]
        state = await bad.settled()
        settled = time.monotonic()
        assert state.status is fault.status, state
        await beside.once_more()
        words = [state.reason, *state.warnings]
        assert any(fault.told_over(way) in text for text in words), (words, fault.told_over(way))
        stage = {SHAKING: limits.initialize_seconds, LISTING: limits.list_seconds}
        if fault.at in stage:
            asked = times(folder / "ledger", LISTING) if fault.at == LISTING else []
            took = settled - (asked or [began])[0]
            assert took < stage[fault.at] + MARGIN + beside.slack, (took, beside.slack)
        outcomes = await _calls(fault, state, beside)
        closing = time.monotonic()
        await bad.close()
        assert time.monotonic() - closing < CLOSING
        assert not alive(folder / "pids") or way == "http"
        _check_ledger(folder / "ledger", outcomes)
        shown = [(s.status, s.reason, s.warnings) for s in bad.states]
        assert CANARY not in f"{shown}{bad.source!r}{[o for o in outcomes if _failed(o)]}"


async def endure_together(
    cases: Sequence[tuple[Fault, str]],
    start: Callable[..., Any],
    folder: Path,
    *,
    seed: int = 0,
) -> None:
    """`endure` all of them at the same time; the healthy server answers every call meanwhile."""
    neighbour = Neighbour(start({"good": raw(tools={"echo": "echo"})})["good"])

    async def one(number: int, fault: Fault, way: str) -> None:
        own = folder / str(number)
        own.mkdir()
        try:
            await endure(fault, way, start, folder=own, beside=neighbour, seed=seed + number)
        except BaseException as error:
            error.add_note(f"{fault} over {way}")
            raise

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(neighbour.serve())
        await asyncio.gather(*(one(n, fault, way) for n, (fault, way) in enumerate(cases)))
        neighbour.enough.set()


@dataclass
class Neighbour:
    """A healthy server, called without a pause: it answers every call, whatever goes on."""

    running: Any
    enough: asyncio.Event = field(default_factory=asyncio.Event)
    turn: asyncio.Event = field(default_factory=asyncio.Event)
    slack: float = 0.0
    """How long a busy machine held everybody up, in all."""

    async def serve(self) -> None:
        began = time.monotonic()
        echo = (await self.running.tools())["echo"]
        # A bad one may be started a little later, and then ended.
        self.slack = 2 * (time.monotonic() - began)
        served = 0
        while not self.enough.is_set() or not served:
            began = time.monotonic()
            result = await echo.call({"n": served})
            assert result.structured == {"n": served}
            served += 1
            await asyncio.sleep(QUICK)
            self.slack += max(0.0, time.monotonic() - began - 2 * QUICK)
            self.turn.set()
        await self.running.close()

    async def once_more(self) -> None:
        """Wait until whatever held up everybody shows in `slack`."""
        for _ in range(2):
            self.turn.clear()
            await self.turn.wait()


async def _calls(fault: Fault, state: SourceState, beside: Neighbour) -> list[Any]:
    """What some calls made together give, each within its deadline."""
    tool = next((tool for tool in state.tools if tool.spec.tool == "work"), None)
    if tool is None:
        assert state.status is not SourceStatus.READY or not fault.call
        return []
    began = time.monotonic()
    outcomes = await asyncio.gather(
        *(tool.call({"n": n}) for n in range(CALLS)), return_exceptions=True
    )
    took = time.monotonic() - began
    await beside.once_more()
    assert took < BOUNDS["call_seconds"] + MARGIN + beside.slack, (took, beside.slack)
    for outcome in outcomes:
        if isinstance(fault.call, str):
            assert isinstance(outcome, ToolResult), outcome
            assert fault.call in outcome.text
        else:
            assert isinstance(outcome, fault.call), outcome
    return outcomes


def _failed(outcome: Any) -> bool:
    return isinstance(outcome, BaseException) or outcome.is_error


def _check_ledger(ledger: Path, outcomes: list[Any]) -> None:
    """No call reached the server twice, and none of which it was said that it did not run."""
    lines = ledger.read_text().splitlines() if ledger.exists() else []
    ran = [json.loads(line.split(" ", 2)[2])["n"] for line in lines if line.startswith(CALLING)]
    assert len(ran) == len(set(ran))
    for n, outcome in enumerate(outcomes):
        if "was not run" in str(outcome):
            assert n not in ran
        elif isinstance(outcome, ToolResult):
            assert n in ran


def times(ledger: Path, method: str) -> list[float]:
    """When the server was asked for this, on this machine's monotonic clock."""
    lines = [line.split() for line in ledger.read_text().splitlines()] if ledger.exists() else []
    return [float(when) for asked, when, *_ in lines if asked == method]


def alive(pids: Path) -> list[int]:
    """Those of the processes that are still there."""
    started = map(int, pids.read_text().split()) if pids.exists() else ()
    return [pid for pid in started if _is_alive(pid)]


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
