"""What `import llama_index.tools.deferred` costs a process that has LlamaIndex's agents."""

import json
import tempfile

from support.clock import Sample, Timing
from support.importing import Python
from support.report import Goal, Measured, Row, Table

BASE = "import llama_index.core, llama_index.core.agent.workflow\n"
CORE, ADAPTER = "deferred_tools", "llama_index.tools.deferred"
MOST = 100.0


def measure(*, repeats: int) -> Measured:
    """By each process's own clock, as LlamaIndex takes seconds to start and to end."""
    with tempfile.TemporaryDirectory() as folder:
        python = Python.caching(folder)
        timings = {name: _imported(python, name, repeats) for name in (CORE, ADAPTER)}
        contributors = python.contributors(BASE, f"import {ADAPTER}")
    rows: list[Row] = [
        {
            "import": name,
            "median ms": timing.median,
            "least ms": timing.least,
            "cpu ms": timing.cpu,
        }
        for name, timing in timings.items()
    ]
    note = (
        f"Beyond llama_index.core and its agents: {repeats} new processes each, with compiled "
        "modules cached, as they are after the first run."
    )
    tables = [
        Table("Importing", rows, note),
        Table("Where the import goes", contributors, "-X importtime; median of 5."),
    ]
    ours = timings[ADAPTER]
    goal = Goal("import, beyond LlamaIndex", ours.median, MOST, "ms", cpu=ours.cpu)
    return Measured(tables, [goal])


def _imported(python: Python, name: str, repeats: int) -> Timing:
    clocks = "time.perf_counter(), time.process_time()"
    program = (
        f"import time, json\n{BASE}a = {clocks}\nimport {name}\nprint(json.dumps([a, [{clocks}]]))"
    )
    python.run(program)  # compiles it all
    samples = []
    for _ in range(repeats):
        (wall, cpu), (wall_after, cpu_after) = json.loads(python.run(program).stdout)
        samples.append(Sample((wall_after - wall) * 1e3, (cpu_after - cpu) * 1e3))
    return Timing.of(samples)
