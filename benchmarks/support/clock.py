"""How long something takes: wall time, and processor time beside it, in milliseconds."""

import gc
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

Given = TypeVar("Given")


@dataclass(frozen=True, slots=True)
class Sample:
    """One run. `cpu` counts all threads of this process and none of its neighbours."""

    wall: float
    cpu: float


@dataclass(frozen=True, slots=True)
class Timing:
    """Several runs. Their median is what to expect, the least what the code itself needs."""

    median: float
    p90: float
    least: float
    cpu: float
    """Median processor time."""

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> "Timing":
        """The figures of `samples`."""
        walls = sorted(sample.wall for sample in samples)
        return cls(
            median=statistics.median(walls),
            p90=walls[min(len(walls) - 1, len(walls) * 9 // 10)],
            least=walls[0],
            cpu=statistics.median(sample.cpu for sample in samples),
        )


def timed(run: Callable[[], object]) -> Sample:
    """One run of `run`. What it returns is let go after the clock was read."""
    wall, cpu = time.perf_counter(), time.process_time()
    kept = run()
    sample = Sample((time.perf_counter() - wall) * 1e3, (time.process_time() - cpu) * 1e3)
    del kept
    return sample


def repeat(run: Callable[[Given], object], times: int, *, given: Callable[[], Given]) -> Timing:
    """`run` on a new `given()` each time, so that no run finds what an earlier one cached."""
    samples = []
    for _ in range(times):
        made = given()
        gc.collect()
        samples.append(timed(partial(run, made)))
    return Timing.of(samples)
