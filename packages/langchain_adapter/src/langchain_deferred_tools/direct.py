"""`return_direct` in `create_agent`, which knows it only of the tools that it was made with.

It ends a run when all of *those* that were called are to be returned directly, and never for
one that was bound late. So each answer that matters here carries a mark of how its turn may end.
"""

from collections.abc import Callable, Sequence
from enum import StrEnum

from langchain_core.messages import AnyMessage, ToolMessage
from langchain_core.tools import BaseTool

from langchain_deferred_tools.answer import Answer, with_messages
from langchain_deferred_tools.state import last_calls

_KEY = "deferred_tools_return"


class Return(StrEnum):
    """How an answer may end its turn."""

    DIRECT = "direct"
    """A deferred tool's, to be returned directly."""
    TO_MODEL = "to_model"
    """A deferred tool's or a refusal, for the model to read."""
    AGENT_DIRECT = "agent_direct"
    """Of a tool of the agent's own, which `create_agent` returns directly by itself."""


def marked(
    answer: Answer, called: str, own: Sequence[BaseTool], is_direct: Callable[[str], bool]
) -> Answer:
    """The answer to a call of `called`, with its marks.

    `own` are the agent's own tools, `is_direct` tells of the deferred ones.
    """
    by_name = {tool.name: tool for tool in own}

    def mark(message: ToolMessage) -> ToolMessage:
        name = message.name or called  # another one, where a reviewer has redirected the call
        if name not in by_name:
            direct = message.status != "error" and is_direct(name)
            return _with(message, Return.DIRECT if direct else Return.TO_MODEL)
        return _with(message, Return.AGENT_DIRECT) if by_name[name].return_direct else message

    return with_messages(answer, mark)


def all_direct(messages: Sequence[AnyMessage]) -> bool:
    """Whether the run is to end here, before the model is asked again."""
    answers = _answers(messages)
    return bool(answers) and all(_mark(message) is Return.DIRECT for message in answers)


def ended_early(messages: Sequence[AnyMessage]) -> list[ToolMessage]:
    """The last answers, without their marks, if `create_agent` overlooked some and ended.

    Without marks, so that a run which is ended by somebody else now stays ended.
    """
    answers = _answers(messages)
    marks = {_mark(message) for message in answers}
    if not {Return.AGENT_DIRECT, Return.TO_MODEL} <= marks:
        return []
    return [_with(message, None) for message in answers if _mark(message)]


def _answers(messages: Sequence[AnyMessage]) -> list[ToolMessage]:
    """The tools' answers since the model's last message, if there is nothing else."""
    model, after = last_calls(messages)
    answers = [message for message in after if isinstance(message, ToolMessage)]
    return answers if model is not None and len(answers) == len(after) else []


def _mark(message: ToolMessage) -> Return | None:
    found = message.response_metadata.get(_KEY)
    return Return(found) if found else None


def _with(message: ToolMessage, mark: Return | None) -> ToolMessage:
    metadata = {key: value for key, value in message.response_metadata.items() if key != _KEY}
    if mark:
        metadata[_KEY] = mark.value
    return message.model_copy(update={"response_metadata": metadata})
