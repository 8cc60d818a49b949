"""Runs that wait for a reviewer's decisions."""

from typing import Any, Literal

from langchain.agents.middleware import HumanInTheLoopMiddleware
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from deferred_tools import Toolset
from tests.support.agents import Runner, agent_of, thread, told
from tests.support.scripted_model import ScriptedModel, call, says

Mode = Literal["batched", "per_call"]
APPROVE: dict[str, Any] = {"type": "approve"}


def edit(name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "edit", "edited_action": {"name": name, "args": arguments}}


class Review:
    """A run that waits for decisions."""

    def __init__(self, run: Runner, agent: Any, mode: Mode) -> None:
        self.run, self.agent, self.mode = run, agent, mode
        self.output = run(agent, "go", thread())

    @property
    def asked(self) -> list[str]:
        """The calls that a decision is wanted about, by name."""
        values = [interrupt.value for interrupt in self.output.get("__interrupt__", ())]
        if self.mode == "per_call":
            return [value["name"] for value in values]
        return [action["name"] for value in values for action in value["action_requests"]]

    def decide(self, *decisions: dict[str, Any]) -> list[tuple[str | None, str, str]]:
        """Resume with one decision per call asked about; what the tools then answered."""
        interrupts = self.output["__interrupt__"]
        resume: dict[str, Any] = {"decisions": list(decisions)}
        if self.mode == "per_call":
            resume = {i.id: decision for i, decision in zip(interrupts, decisions, strict=True)}
        self.output = self.run(self.agent, Command(resume=resume), thread())
        return told(self.output)


def review(
    run: Runner,
    toolset: Toolset,
    script: list[Any],
    *,
    mode: Mode = "batched",
    ours_first: bool = True,
    of: tuple[str, ...] = ("send_email",),
    own: Any = (),
) -> tuple[ScriptedModel, Review]:
    """A run of an agent whose calls of the tools in `of` wait for a decision."""
    hitl = HumanInTheLoopMiddleware(dict.fromkeys(of, True), interrupt_mode=mode)
    model, agent = agent_of(
        script,
        toolset,
        checkpointer=InMemorySaver(),
        tools=own,
        **{"after" if ours_first else "before": [hitl]},
    )
    return model, Review(run, agent, mode)


def email_script(*, names: tuple[str, ...] = ("send_email",)) -> list[Any]:
    return [
        says(call("tool_search", names=list(names))),
        says(call("send_email", to="a")),
        says(text="ok"),
    ]
