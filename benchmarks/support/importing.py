"""What `import deferred_tools` costs a process, and which packages it goes to."""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass

from support.clock import Sample, Timing
from support.report import Goal, Measured, Row, Table

PYDANTIC = "from pydantic import BaseModel\nclass M(BaseModel):\n  x: int\n"
"""In use, for it loads most of itself when the first model is made."""
OURS = "import deferred_tools"
FOREIGN = frozenset({"langchain", "langchain_core", "langgraph", "llama_index", "mcp", "numpy"})
MOST = 5


def measure(*, repeats: int) -> Measured:
    """By the clock against what is there anyway, and by `-X importtime`."""
    with tempfile.TemporaryDirectory() as folder:
        python = Python.caching(folder)
        added = python.loads(PYDANTIC, OURS)
        timings = python.timings(_programs(added), repeats)
        contributors = python.contributors(PYDANTIC, OURS)
    ours, base = timings["deferred_tools"], timings["pydantic, one model made"]
    rows: list[Row] = [
        {
            "import": name,
            "median ms": timing.median,
            "least ms": timing.least,
            "cpu ms": timing.cpu,
            "ours beyond it ms": ours.median - timing.median,
        }
        for name, timing in timings.items()
    ]
    loaded = ", ".join(sorted(FOREIGN & added)) or "none"
    tables = [
        Table(
            "Importing",
            rows,
            f"{repeats} new processes each, in turn, with compiled modules cached, as they are "
            f"after the first run. Frameworks and the like loaded: {loaded}.",
        ),
        Table(
            "Where the import goes",
            contributors,
            "-X importtime, beyond pydantic, each package's own modules; median of 5.",
        ),
    ]
    beyond, cpu = ours.median - base.median, ours.cpu - base.cpu
    return Measured(tables, [Goal("import, beyond pydantic in use", beyond, 150, "ms", cpu=cpu)])


@dataclass(frozen=True)
class Python:
    """Starts of this Python."""

    environment: Mapping[str, str]

    @classmethod
    def caching(cls, folder: str) -> "Python":
        """Keeps compiled modules in `folder`, whatever this environment does with them."""
        kept = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        return cls({**kept, "PYTHONPYCACHEPREFIX": folder})

    def run(self, program: str, *options: str) -> subprocess.CompletedProcess[str]:
        """Run `program` to its end."""
        command = [sys.executable, *options, "-c", program]
        return subprocess.run(
            command, env=self.environment, capture_output=True, text=True, check=True
        )

    def loads(self, base: str, ours: str) -> set[str]:
        """The modules that `ours` loads beyond those of `base`. Compiles them all on the way."""
        program = (
            f"import sys, json\n{base}\nbefore = set(sys.modules)\n{ours}\n"
            "print(json.dumps(sorted(set(sys.modules) - before)))"
        )
        return set(json.loads(self.run(program).stdout))

    def timed(self, program: str) -> Sample:
        """How long one start takes."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        wall = time.perf_counter()
        self.run(program)
        wall = time.perf_counter() - wall
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Sample(wall * 1e3, cpu * 1e3)

    def timings(self, programs: Mapping[str, str], repeats: int) -> dict[str, Timing]:
        """Starts of each program, in turn, so that all see the same machine."""
        samples: dict[str, list[Sample]] = {name: [] for name in programs}
        for _ in range(repeats):
            for name, program in programs.items():
                samples[name].append(self.timed(program))
        return {name: Timing.of(of) for name, of in samples.items()}

    def contributors(self, base: str, ours: str, repeats: int = 5) -> list[Row]:
        """The packages that take most of `ours` beyond `base`, and all others together."""
        program = f"import sys\n{base}\nsys.stderr.write('|\\n')\n{ours}"
        runs: dict[str, list[float]] = {}
        for _ in range(repeats):
            told = self.run(program, "-X", "importtime").stderr
            for package, own in _own_times(told.partition("|\n")[2]).items():
                runs.setdefault(package, []).append(own)
        medians = {package: statistics.median(times) for package, times in runs.items()}
        ranked = sorted(medians.items(), key=lambda item: -item[1])
        rows: list[Row] = [{"package": package, "ms": own} for package, own in ranked[:MOST]]
        rest = sum(own for _, own in ranked[MOST:])
        return [*rows, {"package": f"{len(ranked) - MOST} others", "ms": rest}]


def _programs(added: set[str]) -> dict[str, str]:
    standard = sorted(name for name in added if name.split(".")[0] in sys.stdlib_module_names)
    return {
        "nothing": "pass",
        "pydantic": "import pydantic",
        "pydantic, one model made": PYDANTIC,
        "and what we use of the standard library": f"{PYDANTIC}import {', '.join(standard)}",
        "deferred_tools": OURS,
    }


def _own_times(told: str) -> dict[str, float]:
    """Milliseconds by top-level package, from lines such as `import time: 12 | 345 |  a.b`."""
    spent: dict[str, float] = {}
    for line in told.splitlines():
        own, _, name = line.removeprefix("import time:").split("|")
        package = name.strip().split(".")[0]
        spent[package] = spent.get(package, 0.0) + int(own) / 1e3
    return spent
