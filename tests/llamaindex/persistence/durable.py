"""Runs on DBOS over a SQLite file, in processes that may die."""

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn

from dbos import DBOS
from llama_agents.dbos import DBOSRuntime
from llama_index.core.llms import ChatMessage

from llama_index.tools.deferred import DeferredTools
from tests.llamaindex.persistence.turn import Report, Searches, toolset
from tests.llamaindex.persistence.workflows import Kind, workflow_of
from tests.support.llama_model import Asked, ScriptedLLM, says


@dataclass(frozen=True, kw_only=True)
class Durable:
    """One run, which a process begins, or goes on with after another one died."""

    database: str
    """A SQLite file, all of one run."""
    kind: Kind
    script: tuple[ChatMessage | Callable[[Asked], ChatMessage], ...]


def die(_: Asked) -> NoReturn:
    """The process dies when the model is asked."""
    os._exit(9)


def repeat(asked: Asked) -> ChatMessage:
    """The model says what a tool has answered."""
    return says(asked.results[-1])


def endure(run: Durable) -> Report:
    """Begin a run in this process, or recover it; only once in a process."""
    return asyncio.run(_endured(run))


async def _endured(run: Durable) -> Report:
    searches, llm = Searches(), ScriptedLLM.of(*run.script)
    DBOS(
        config={
            "name": "deferred",
            "system_database_url": f"sqlite:///{run.database}",
            "run_admin_server": False,
            "log_level": "ERROR",
        }
    )
    runtime = DBOSRuntime(polling_interval_sec=0.05)
    with toolset(searches) as tools:
        with runtime.registering():
            workflow = workflow_of(run.kind, DeferredTools(tools), llm)
        await runtime.launch()
        # DBOS knows a run by its id: it goes on with this one if there is one.
        text = str(await workflow.run(user_msg="go", run_id="1"))
        await runtime.destroy()
    return Report(bound=[asked.names for asked in llm.asked], text=text, searched=searches.found)
