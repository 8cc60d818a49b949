"""A conversation with the agent in this process."""

from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.base import BaseCheckpointSaver

from deferred_tools import Session, Toolset
from deferred_tools.stored import dump_session, load_session
from langchain_deferred_tools.state import STATE_KEY
from tests.langchain.persistence.agent import build, toolset
from tests.support.scripted_model import ScriptedModel, Turn, says


class Chat:
    """One thread. Each `turn` builds the agent anew, as a process that restarts would."""

    def __init__(self, saver: BaseCheckpointSaver[Any]) -> None:
        self.saver = saver
        self.config: Any = {"configurable": {"thread_id": uuid4().hex}}

    def turn(
        self, *script: AIMessage, tools: Toolset | None = None, at: Any = None
    ) -> tuple[list[Turn], list[ToolMessage]]:
        """What the model was given, and what the tools answered; `at` is an earlier config."""
        model = ScriptedModel(script=[*script, says(text="done")])
        with tools or toolset() as used:
            agent = build(model, self.saver, used)
            said = {"messages": [("user", "go")]}
            result = agent.invoke(said, at or self.config)
        asked = max(i for i, m in enumerate(result["messages"]) if m.type == "human")
        answers = [m for m in result["messages"][asked:] if isinstance(m, ToolMessage)]
        return model.turns, answers

    @property
    def graph(self) -> Any:
        """The agent, to look at its state."""
        return build(ScriptedModel(), self.saver, toolset())

    @property
    def session(self) -> Session:
        """What is stored now."""
        return load_session(self.graph.get_state(self.config).values.get(STATE_KEY))

    def keep(self, session: Session) -> None:
        """Update what is stored."""
        self.graph.update_state(self.config, {STATE_KEY: dump_session(session)})
