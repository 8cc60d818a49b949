"""langgraph-bigtool, measured by the same code in an environment of its own.

Its first tool call fails on today's langgraph (`ToolNode` has no `inject_tool_args`), so it gets
the versions that it works with. As a program: prints its timings as JSON.
"""

import json
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from importlib import import_module
from pathlib import Path

from langchain_core.tools import BaseTool
from langgraph.store.memory import InMemoryStore
from support.clock import Timing, repeat
from support.definitions import corpus, generated, take
from support.langchain_tools import FUNCTIONS, JSON, NoOpModel, function_tools, json_tools

NEEDS = ("langgraph-bigtool==0.0.3", "langgraph==0.3.34", "langchain-core==0.3.86")


def peer(count: int, repeats: int) -> tuple[dict[str, Timing], str]:
    """Constructing it with `count` tools, by kind of tool, and how that was done or why not."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        scripts = "Scripts" if sys.platform == "win32" else "bin"
        python = str(Path(folder, scripts, "python"))
        measure = [python, "-m", "support.bigtool", str(count), str(repeats)]
        try:
            _output([python, "-m", "pip", "install", "--quiet", *NEEDS])
            told = _output(measure)
        except subprocess.CalledProcessError as error:
            return {}, f"langgraph-bigtool is left out: {error.stderr.strip().splitlines()[-1]}"
    timings = {kind: Timing(**timing) for kind, timing in json.loads(told).items()}
    note = "langgraph-bigtool without its index, in an environment of its own: "
    return timings, note + ", ".join(NEEDS)


def _output(command: Sequence[str]) -> str:
    root = Path(__file__).parents[1]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout


def _main(count: int, repeats: int) -> None:
    # Only in that environment, so no type checker sees it.
    create_agent = import_module("langgraph_bigtool").create_agent
    definitions = take(corpus() or generated(), count)

    def build(tools: Sequence[BaseTool]) -> object:
        builder = create_agent(NoOpModel(), {tool.name: tool for tool in tools})
        return builder.compile(store=InMemoryStore())

    kinds = {JSON: json_tools, FUNCTIONS: function_tools}
    timings = {
        kind: asdict(repeat(build, repeats, given=partial(make, definitions)))
        for kind, make in kinds.items()
    }
    print(json.dumps(timings))


if __name__ == "__main__":
    _main(int(sys.argv[1]), int(sys.argv[2]))
