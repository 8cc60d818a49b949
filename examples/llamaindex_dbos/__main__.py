"""A crash between a search and its use: DBOS recovers the run, and nothing is searched again."""

import asyncio
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from dbos import DBOS
from llama_agents.dbos import DBOSRuntime
from llama_index.core.llms import ChatMessage

from examples.llamaindex_workflow.chat import TOOLSET, Chat
from examples.scripted_llama import ScriptedLLM, call, says


async def ask(database: str, model: ScriptedLLM) -> str:
    """Run the workflow, or go on with it: DBOS knows a run by its id."""
    DBOS(
        config={
            "name": "story",
            "system_database_url": f"sqlite:///{database}",
            "run_admin_server": False,
            "log_level": "ERROR",
        }
    )
    runtime = DBOSRuntime(polling_interval_sec=0.05)
    with runtime.registering():
        chat = Chat(model)
    await runtime.launch()
    answer = await chat.run(said="How is the weather in Oslo?", run_id="1")
    await runtime.destroy()
    return str(answer)


def die() -> ChatMessage:
    """Crash instead of an answer."""
    os._exit(9)


def crash(database: str) -> None:
    """What the first process does: search, and crash."""
    model = ScriptedLLM(says("", call("tool_search", query="weather forecast")), die)
    asyncio.run(ask(database, model))


def recover(database: str) -> None:
    """Let the first process crash, and go on in this one."""
    first = [sys.executable, "-m", "examples.llamaindex_dbos", database]
    assert subprocess.run(first, check=False).returncode == 9

    model = ScriptedLLM(says("", call("get_weather", city="Oslo")), says("It is sunny."))
    print("recovered:", asyncio.run(ask(database, model)))
    assert model.bound == ["tool_search", "get_weather"]


def main() -> None:
    """Run the story and check it."""
    with TOOLSET, tempfile.TemporaryDirectory() as folder:
        if sys.argv[1:]:
            crash(sys.argv[1])
        else:
            recover(str(Path(folder) / "runs.db"))


if __name__ == "__main__":
    main()
