"""`return_direct` in `create_agent`, which knows it only of the tools that it was made with.

It ends a run when all of *those* that were called are to be returned directly, whatever else was
called, and never for a deferred tool. So direct answers are marked, and we decide by the marks.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum

from langchain_core.messages import AnyMessage, ToolMessage
from langchain_core.tools import BaseTool

from langchain_deferred_tools.answer import Answer, with_messages
from langchain_deferred_tools.state import last_calls

_KEY = "deferred_tools_return_direct"
IsIt = Callable[[str], bool]
"""Tells something of a tool by its name."""


class Direct(StrEnum):
    """Whose answer is to be returned directly."""

    DEFERRED = "deferred"
    OWN = "own"
    """Of the agent's own tools: `create_agent` ends the run for these."""


def marked(answer: Answer, called: str, own: Sequence[BaseTool], is_direct: IsIt) -> Answer:
    """The answer to a call of `called`, with a mark if it is to be returned directly.

    `own` are the agent's own tools; `is_direct` tells of deferred ones, whose errors the model
    is to see all the same.
    """
    own_direct = {tool.name: tool.return_direct for tool in own}

    def mark(message: ToolMessage) -> ToolMessage:
        name = message.name or called  # another one, where a reviewer has redirected the call
        if name in own_direct:
            return _with(message, Direct.OWN) if own_direct[name] else message
        direct = message.status != "error" and is_direct(name)
        return _with(message, Direct.DEFERRED) if direct else message

    return with_messages(answer, mark)


def all_direct(messages: Sequence[AnyMessage]) -> bool:
    """Whether the run is to end here, before the model is asked again."""
    answers = _answers(messages)
    return bool(answers) and all(_mark(message) == Direct.DEFERRED for message, _ in answers)


def ended_early(messages: Sequence[AnyMessage], is_deferred: IsIt) -> list[ToolMessage]:
    """The direct answers, unmarked, for which `create_agent` ended although there are others.

    Unmarked, so that a run which somebody else then ends stays ended.
    """
    answers = _answers(messages)
    direct = [message for message, _ in answers if _mark(message)]
    if not any(_mark(message) == Direct.OWN for message in direct):
        return []
    overlooked = any(
        not _mark(message) and (message.status == "error" or is_deferred(name))
        for message, name in answers
    )
    return [_with(message, None) for message in direct] if overlooked else []


def _answers(messages: Sequence[AnyMessage]) -> list[tuple[ToolMessage, str]]:
    """The answers since the model's last message, with their tools' names, if nothing else."""
    model, after = last_calls(messages)
    if model is None or not all(isinstance(message, ToolMessage) for message in after):
        return []
    called = {call["id"]: call["name"] for call in model.tool_calls}
    return [
        (message, message.name or called.get(message.tool_call_id, ""))
        for message in after
        if isinstance(message, ToolMessage)
    ]


def _mark(message: ToolMessage) -> str | None:
    mark: str | None = message.response_metadata.get(_KEY)
    return mark


def _with(message: ToolMessage, mark: Direct | None) -> ToolMessage:
    metadata = {key: value for key, value in message.response_metadata.items() if key != _KEY}
    if mark:
        metadata[_KEY] = mark.value
    return message.model_copy(update={"response_metadata": metadata})
