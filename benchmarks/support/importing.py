"""What `import deferred_tools` costs a process, and which packages it goes to."""

import json
import resource
import statistics
import subprocess
import sys
import time

from support.clock import Sample, Timing
from support.report import Goal, Measured, Row, Table

PYDANTIC = "from pydantic import BaseModel\nclass M(BaseModel):\n  x: int\n"
"""In use, for it loads most of itself when the first model is made."""
OURS = "import deferred_tools"
FOREIGN = frozenset({"langchain", "langchain_core", "langgraph", "llama_index", "mcp", "numpy"})
MOST = 5


def measure(*, repeats: int) -> Measured:
    """By the clock against what is there anyway, and by `-X importtime`."""
    added = _added()
    standard = sorted(name for name in added if name.split(".")[0] in sys.stdlib_module_names)
    programs = {
        "nothing": "pass",
        "pydantic": "import pydantic",
        "pydantic, one model made": PYDANTIC,
        "and what we use of the standard library": f"{PYDANTIC}import {', '.join(standard)}",
        "deferred_tools": OURS,
    }
    samples: dict[str, list[Sample]] = {name: [] for name in programs}
    for _ in range(repeats):
        for name, program in programs.items():
            samples[name].append(_start(program))
    timings = {name: Timing.of(of) for name, of in samples.items()}
    ours = timings["deferred_tools"]
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
    base = timings["pydantic, one model made"]
    return Measured(
        [
            Table(
                "Importing",
                rows,
                f"{repeats} new processes each, in turn. Frameworks and the like loaded: {loaded}.",
            ),
            Table(
                "Where the import goes",
                _contributors(),
                "-X importtime, beyond pydantic, each package's own modules; median of 5.",
            ),
        ],
        [
            Goal(
                "import, beyond pydantic with one model",
                ours.median - base.median,
                150,
                "ms",
                cpu=ours.cpu - base.cpu,
            )
        ],
    )


def _added() -> set[str]:
    """The modules that ours loads beyond pydantic's."""
    program = (
        f"import sys, json\n{PYDANTIC}before = set(sys.modules)\n{OURS}\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    command = [sys.executable, "-c", program]
    return set(json.loads(subprocess.run(command, capture_output=True, check=True).stdout))


def _start(program: str) -> Sample:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    wall = time.perf_counter()
    subprocess.run([sys.executable, "-c", program], check=True)
    wall = time.perf_counter() - wall
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Sample(wall * 1e3, cpu * 1e3)


def _contributors(repeats: int = 5) -> list[Row]:
    """The packages that take most, and all others together."""
    program = f"import sys\n{PYDANTIC}sys.stderr.write('|\\n')\n{OURS}"
    command = [sys.executable, "-X", "importtime", "-c", program]
    runs: dict[str, list[float]] = {}
    for _ in range(repeats):
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        for package, own in _own_times(done.stderr.partition("|\n")[2]).items():
            runs.setdefault(package, []).append(own)
    medians = {package: statistics.median(times) for package, times in runs.items()}
    ranked = sorted(medians.items(), key=lambda item: -item[1])
    rows: list[Row] = [{"package": package, "ms": own} for package, own in ranked[:MOST]]
    rest = sum(own for _, own in ranked[MOST:])
    return [*rows, {"package": f"{len(ranked) - MOST} others", "ms": rest}]


def _own_times(told: str) -> dict[str, float]:
    """Milliseconds by top-level package, from lines such as `import time: 12 | 345 |  a.b`."""
    spent: dict[str, float] = {}
    for line in told.splitlines():
        own, _, name = line.removeprefix("import time:").split("|")
        package = name.strip().split(".")[0]
        spent[package] = spent.get(package, 0.0) + int(own) / 1e3
    return spent
