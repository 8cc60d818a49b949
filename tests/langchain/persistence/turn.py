"""Processes that take turns in a conversation: what they share is in the store alone."""

import asyncio
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command, StateSnapshot
from pydantic import BaseModel

from deferred_tools import hookimpl
from langchain_deferred_tools.state import STATE_KEY
from tests.langchain.persistence.agent import Tools, build, toolset
from tests.support.scripted_model import ScriptedModel

ROOT = Path(__file__).parents[3]


class Turn(BaseModel):
    """What a process is to do. It builds everything anew for each turn."""

    store: str
    """A SQLite file, or the URI of a PostgreSQL server."""
    thread: str
    script: list[AIMessage]
    says: str | None = None
    """What the user says; without it the run goes on where it stopped."""
    resume: Any = None
    """The answer to an interrupt."""
    tools: Tools = "usual"
    asynchronous: bool = False

    @property
    def given(self) -> Any:
        """The agent's input."""
        if self.resume is not None:
            return Command(resume=self.resume)
        return self.says and {"messages": [("user", self.says)]}

    @property
    def in_postgres(self) -> bool:
        """Whether the store is a server."""
        return "://" in self.store

    @property
    def config(self) -> Any:
        """The agent's config."""
        return {"configurable": {"thread_id": self.thread}}


class Report(BaseModel):
    """What came of it."""

    bound: list[list[str]]
    """The tools that the model was given, call by call."""
    answers: list[tuple[str | None, str, str]]
    """The tools' answers in the whole conversation: name, status, text."""
    text: str
    """The last message."""
    interrupts: list[Any]
    ledger: dict[str, Any]
    searched: list[str]
    """What this process searched for."""
    failure: str
    """What the run raised, or ""."""
    complaints: list[str]
    """Warnings that were logged."""


class Process:
    """A process that takes turns, one after the other, until it is ended or we are gone."""

    def __init__(self) -> None:
        self._child = subprocess.Popen(
            [sys.executable, "-m", "tests.langchain.persistence.turn"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, "LANGGRAPH_STRICT_MSGPACK": "true"},
            text=True,
        )

    def take(self, turn: Turn) -> Report:
        """What comes of `turn`."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.stdin.write(turn.model_dump_json() + "\n")
        self._child.stdin.flush()
        answer = self._child.stdout.readline()
        assert answer, "the process died: its standard error says why"
        return Report.model_validate_json(answer)

    def end(self) -> None:
        """Let it end, without waiting for it."""
        assert self._child.stdin is not None
        self._child.stdin.close()

    def wait(self) -> None:
        """Wait until it has ended."""
        with self._child:
            pass


class _Taker(logging.Handler):
    """Takes a turn, and hears what happens."""

    def __init__(self, turn: Turn) -> None:
        super().__init__(logging.WARNING)
        self.turn = turn
        self.model = ScriptedModel(script=turn.script)
        self.toolset = toolset(turn.tools, self)
        self.searched: list[str] = []
        self.complaints: list[str] = []
        self.failure = ""

    @hookimpl
    def deferred_tools_searched(self, found: tuple[str, ...]) -> None:
        self.searched.extend(found)

    def emit(self, record: logging.LogRecord) -> None:
        self.complaints.append(record.getMessage())

    @contextmanager
    def noting_failure(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.failure = str(error)

    def synchronously(self) -> StateSnapshot:
        saving = PostgresSaver if self.turn.in_postgres else SqliteSaver
        with saving.from_conn_string(self.turn.store) as saver, self.toolset:
            saver.setup()
            agent = build(self.model, saver, self.toolset)
            with self.noting_failure():
                agent.invoke(self.turn.given, self.turn.config)
            state: StateSnapshot = agent.get_state(self.turn.config)
            return state

    async def asynchronously(self) -> StateSnapshot:
        saving = AsyncPostgresSaver if self.turn.in_postgres else AsyncSqliteSaver
        async with saving.from_conn_string(self.turn.store) as saver, self.toolset:
            await saver.setup()
            agent = build(self.model, saver, self.toolset)
            with self.noting_failure():
                await agent.ainvoke(self.turn.given, self.turn.config)
            state: StateSnapshot = await agent.aget_state(self.turn.config)
            return state

    def take(self) -> Report:
        logger = logging.getLogger()
        logger.addHandler(self)
        state = (
            asyncio.run(self.asynchronously()) if self.turn.asynchronous else self.synchronously()
        )
        logger.removeHandler(self)
        messages = state.values["messages"]
        return Report(
            bound=[call.tools for call in self.model.turns],
            answers=[
                (m.name, m.status, str(m.text)) for m in messages if isinstance(m, ToolMessage)
            ],
            text=str(messages[-1].text),
            interrupts=[interrupt.value for interrupt in state.interrupts],
            ledger=state.values[STATE_KEY],
            searched=self.searched,
            failure=self.failure,
            complaints=self.complaints,
        )


def main() -> None:
    """Take the turns that standard input brings, one a line; a report goes out for each."""
    for line in sys.stdin:
        report = _Taker(Turn.model_validate_json(line)).take()
        sys.stdout.write(report.model_dump_json() + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
