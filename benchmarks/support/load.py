"""Many conversations at once, each searching and calling; what they met with is written down."""

import asyncio
import os
import random
import resource
import statistics
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import httpx2
from support.report import Row

from deferred_tools.errors import DeferredToolsError

WARM_UP = 0.25
"""Part of the time after which memory is expected to stay where it is."""
FAILURES = (DeferredToolsError, httpx2.HTTPError, LookupError, RuntimeError, ValueError)
"""What a step may end with."""


class StepFailedError(Exception):
    """A step of a turn has failed."""


@dataclass(frozen=True)
class Ask:
    """What one turn of a conversation wants."""

    query: str
    tool: str
    """A tool that needs no arguments."""


@dataclass
class Met:
    """What all conversations met with. Times in seconds."""

    times: dict[str, list[float]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    """Resident MiB, each second."""
    cpu: float = 0.0
    """Processor time that the watched process took."""

    @asynccontextmanager
    async def timed(self, what: str) -> AsyncIterator[None]:
        """Take the time of one step; a failure is written down, and ends the turn."""
        began = time.perf_counter()
        try:
            yield
        except FAILURES as error:
            self.failures.append(f"{what}: {error!r}")
            raise StepFailedError from error
        else:
            self.times.setdefault(what, []).append(time.perf_counter() - began)

    def rows(self) -> list[Row]:
        """A row for each step."""
        return [_row(what, taken) for what, taken in self.times.items()]

    @property
    def grown(self) -> float:
        """MiB by which memory grew after the warm-up, from one half of the rest to the other."""
        settled = self.memory[int(len(self.memory) * WARM_UP) :]
        half = len(settled) // 2
        return statistics.median(settled[half:]) - statistics.median(settled[:half])


class Way(Protocol):
    """One conversation's way to the tools."""

    async def turn(self, ask: Ask, met: Met) -> None:
        """Search and call, each step within `met.timed`."""


async def load(
    ways: Sequence[Way], asks: Sequence[Ask], *, seconds: float, pause: float, process: str
) -> Met:
    """Let a conversation go each way at the same time.

    Args:
        ways: One for each conversation.
        asks: What they want; each picks by chance.
        seconds: For how long.
        pause: Seconds between the turns of a conversation, on average.
        process: The process whose memory and time are watched, by its id, or "self".
    """
    met, until, before = Met(), time.monotonic() + seconds, _cpu(process)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_watch(met, until, process))
        for number, way in enumerate(ways):
            dice = random.Random(number)  # noqa: S311  # nothing secret
            tasks.create_task(_talk(way, _turns(asks, dice, until, pause), met))
    met.cpu = _cpu(process) - before
    return met


async def _turns(
    asks: Sequence[Ask], dice: random.Random, until: float, pause: float
) -> AsyncIterator[Ask]:
    await asyncio.sleep(dice.random() * pause)
    while time.monotonic() < until:
        yield dice.choice(asks)
        await asyncio.sleep(dice.expovariate(1 / pause))


async def _talk(way: Way, turns: AsyncIterator[Ask], met: Met) -> None:
    async for ask in turns:
        with suppress(StepFailedError):
            await way.turn(ask, met)


async def _watch(met: Met, until: float, process: str) -> None:
    while time.monotonic() < until:
        met.memory.append(_resident(process))
        await asyncio.sleep(1)


def _resident(process: str) -> float:
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


def _cpu(process: str) -> float:
    # The name, which comes before, may hold anything.
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def _row(what: str, taken: Sequence[float]) -> Row:
    ordered = sorted(taken)
    return {
        "step": what,
        "times": len(ordered),
        "median ms": statistics.median(ordered) * 1e3,
        "p95 ms": ordered[int(len(ordered) * 0.95)] * 1e3,
        "most ms": ordered[-1] * 1e3,
    }
