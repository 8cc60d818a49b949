"""langgraph-bigtool, measured by the same code in an environment of its own.

Its first tool call fails on today's langgraph (`ToolNode` has no `inject_tool_args`), so it gets
the versions that it works with. As a program: prints its timings as JSON.
"""

import json
import subprocess
import sys
import tempfile
import venv
from dataclasses import asdict
from pathlib import Path

from support.clock import Timing, repeat
from support.definitions import corpus, generated, take
from support.langchain_tools import NoOpModel, function_tools, json_tools

NEEDS = ("langgraph-bigtool==0.0.3", "langgraph==0.3.34", "langchain-core==0.3.86")


def peer(count: int, repeats: int) -> tuple[dict[str, Timing], str]:
    """Constructing it with `count` tools, by kind of tool, and the versions it ran with."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = Path(folder) / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        subprocess.run([python, "-m", "pip", "install", "-q", *NEEDS], check=True)
        command = [python, "-m", "support.bigtool", str(count), str(repeats)]
        root = Path(__file__).parents[1]
        done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, text=True, check=True)
    timings = {kind: Timing(**told) for kind, told in json.loads(done.stdout).items()}
    return timings, ", ".join(NEEDS)


def _main(count: int, repeats: int) -> None:
    from langgraph.store.memory import InMemoryStore  # noqa: PLC0415  # only there
    from langgraph_bigtool import create_agent  # noqa: PLC0415

    definitions = take(corpus() or generated(), count)
    kinds = {"JSON Schema tools": json_tools, "@tool functions": function_tools}
    timings = {
        kind: repeat(
            lambda tools: create_agent(NoOpModel(), {tool.name: tool for tool in tools}).compile(
                store=InMemoryStore()
            ),
            repeats,
            given=lambda make=make: make(definitions),
        )
        for kind, make in kinds.items()
    }
    print(json.dumps({kind: asdict(timing) for kind, timing in timings.items()}))


if __name__ == "__main__":
    _main(int(sys.argv[1]), int(sys.argv[2]))
