"""What a tool call in a graph came to: a message, or a command that carries one."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, cast

from langchain_core.messages import ToolMessage
from langgraph.types import Command

Answer = ToolMessage | Command[Any]


def messages_in(answer: object) -> Iterator[ToolMessage]:
    """The tool messages of an answer; LangGraph also takes a list of answers."""
    if isinstance(answer, ToolMessage):
        yield answer
    elif isinstance(answer, Command) and isinstance(answer.update, dict):
        yield from messages_in(answer.update.get("messages"))
    elif isinstance(answer, list):
        for one in answer:
            yield from messages_in(one)


def with_messages(answer: Answer, change: Callable[[ToolMessage], ToolMessage]) -> Answer:
    """`answer` with each of its tool messages changed."""
    return cast("Answer", _changed(answer, change))


def with_update(answer: Answer, update: dict[str, Any]) -> Answer:
    """`answer`, which changes the graph's state by `update`, too."""
    if isinstance(answer, ToolMessage):
        return Command(update={"messages": [answer], **update})
    if (
        isinstance(answer, Command)
        and answer.graph is None
        and isinstance(answer.update, dict)
        and answer.update.keys().isdisjoint(update)
    ):
        return replace(answer, update={**answer.update, **update})
    several = answer if isinstance(answer, list) else [answer]
    return cast("Answer", [*several, Command(update=update)])


def _changed(answer: object, change: Callable[[ToolMessage], ToolMessage]) -> object:
    if isinstance(answer, ToolMessage):
        return change(answer)
    if isinstance(answer, list):
        return [_changed(one, change) for one in answer]
    if isinstance(answer, Command) and isinstance(answer.update, dict):
        messages = _changed(answer.update.get("messages"), change)
        return replace(answer, update={**answer.update, "messages": messages})
    return answer
