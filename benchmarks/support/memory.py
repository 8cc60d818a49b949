"""The memory that the whole corpus takes, in processes of their own.

As a program it builds one kind of agent and prints its memory, step by step, as JSON.
"""

import json
import resource
import subprocess
import sys
from pathlib import Path

from langchain.agents import create_agent
from support.definitions import SIZE, Definition, corpus, generated
from support.langchain_tools import NoOpModel, json_tools
from support.ours import toolset
from support.report import Measured, Table

from deferred_tools import Caller
from langchain_deferred_tools.middleware import DeferredToolsMiddleware

KINDS = ("ours, opened", "create_agent(tools=all)")


def measure() -> Measured:
    """Ours against an agent with every tool bound."""
    command = [sys.executable, "-m", "support.memory"]
    root = Path(__file__).parents[1]
    rows = [
        json.loads(
            subprocess.run([*command, kind], cwd=root, capture_output=True, check=True).stdout
        )
        for kind in KINDS
    ]
    title = f"Memory with {SIZE:,} tools"
    return Measured([Table(title, rows, "Resident MiB, each step on top of the one before.")])


def _build(kind: str, definitions: list[Definition]) -> object:
    if kind != KINDS[0]:
        return create_agent(NoOpModel(), tools=json_tools(definitions))
    tools = toolset(definitions).open()
    tools.prompt(Caller.root())
    return create_agent(NoOpModel(), middleware=[DeferredToolsMiddleware(tools)])


def _resident() -> float:
    """MiB held now; where the system does not tell, the most that was held."""
    now = Path("/proc/self/statm")
    if now.is_file():
        return int(now.read_text().split()[1]) * resource.getpagesize() / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def _main(kind: str) -> None:
    imported = _resident()
    definitions = corpus() or generated()
    read = _resident()
    agent = _build(kind, definitions)
    built = _resident()
    row = {"agent": kind, "imports": imported, "definitions": read - imported}
    print(json.dumps({**row, "agent and tools": built - read}))
    del agent


if __name__ == "__main__":
    _main(sys.argv[1])
