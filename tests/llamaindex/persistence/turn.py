"""Turns of a conversation, each of which may be taken in another process."""

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.agent.workflow.workflow_events import ToolCallResult
from llama_index.core.tools import FunctionTool, ToolSelection
from llama_index.core.workflow import Context, HumanResponseEvent, InputRequiredEvent
from workflows.errors import WorkflowCancelledByUser

from deferred_tools import Settings, Toolset, hookimpl
from tests.support.llama_agents import Kind

GUARDED = Settings.from_dict(
    {
        "tags": {"get_weather": ["untrusted_input", "sensitive"], "save_note": ["egress"]},
        "trifecta": "ask",
    }
)
"""The host is asked before a note of the weather is saved."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """What is to be done. Everything is built anew for each turn, as a process that starts does."""

    kind: Kind
    script: tuple[ToolSelection | str, ...]
    """What the model says."""
    says: str | None = None
    """What the user says; without it the run goes on where it stopped."""
    context: str = ""
    """What the turn before has left, as JSON."""
    reply: dict[str, Any] = field(default_factory=dict)
    """The answer of a human that the run waits for."""


@dataclass(kw_only=True)
class Report:
    """What came of it."""

    bound: list[list[str]] = field(default_factory=list)
    """The tools that the model was given, call by call."""
    told: list[tuple[str, bool, str]] = field(default_factory=list)
    """The tools' answers: name, whether it is an error, text."""
    text: str = ""
    waits_for: dict[str, Any] = field(default_factory=dict)
    """What a human is asked, where the turn ended there."""
    context: str = ""
    searched: list[str] = field(default_factory=list)


class Searches:
    """A plugin that notes what is found."""

    def __init__(self) -> None:
        self.found: list[str] = []

    @hookimpl
    def deferred_tools_searched(self, found: tuple[str, ...]) -> None:
        self.found.extend(found)


def toolset(*plugins: object) -> Toolset:
    """The tools, as each process has them."""
    return Toolset.from_sources(
        [get_weather, ask_guest, FunctionTool.from_defaults(ask_owner), save_note],
        plugins=plugins,
        settings=GUARDED,
    )


def get_weather(city: str) -> str:
    """Weather forecast for a city."""
    return f"sunny in {city}"


def save_note(text: str) -> str:
    """Save a note."""
    return f"saved {text}"


async def ask_owner(ctx: Context, question: str) -> str:
    """Ask the owner of the house a question."""
    asked = InputRequiredEvent.model_validate({"prefix": question})
    event = await ctx.wait_for_event(HumanResponseEvent, waiter_event=asked)
    return f"the human says {event.response}"


async def ask_guest(question: str) -> str:
    """Ask the guest a question."""
    return await ask_owner(Context.get_step_context(), question)


def take(turn: Turn) -> Report:
    """Take a turn with one of LlamaIndex's agents, in this process."""
    return asyncio.run(_taken(turn))


async def _taken(turn: Turn) -> Report:
    searches, report = Searches(), Report()
    with toolset(searches) as tools:
        llm, agent = turn.kind.agent(tools, *turn.script)
        given = turn.context and Context.from_dict(agent, json.loads(turn.context))
        handler = agent.run(user_msg=turn.says, ctx=given or Context(agent))
        if turn.reply:
            handler.ctx.send_event(HumanResponseEvent.model_validate(turn.reply))
        async for event in handler.stream_events():
            if isinstance(event, ToolCallResult):
                output = event.tool_output
                report.told.append((event.tool_name, output.is_error, output.content))
            if isinstance(event, InputRequiredEvent) and not turn.reply:
                report.waits_for = dict(event)
                break
        report.context = json.dumps(handler.ctx.to_dict())
        if report.waits_for:
            await handler.cancel_run()
        with suppress(WorkflowCancelledByUser):
            report.text = str(await handler)
    report.bound = [turn.kind.shown(asked) for asked in llm.asked]
    report.searched = searches.found
    return report
