"""A chat model that plays a script, so that the stories run without a key.

Put your own model in its place: `init_chat_model("...")`.
"""

from collections.abc import Sequence
from typing import Any, Self
from uuid import uuid4

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, ToolCall, ToolMessage


class ScriptedModel(GenericFakeChatModel):
    """Says its messages in turn, whatever it is asked; notes which tools were bound last."""

    bound: list[str] = []  # noqa: RUF012  # a pydantic field: copied for each model

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> Self:
        """Note the names."""
        self.bound[:] = [tool.name for tool in tools]
        return self


def script(*steps: AIMessage) -> ScriptedModel:
    """A model for one story."""
    return ScriptedModel(messages=iter(steps))


def says(text: str = "", *calls: ToolCall) -> AIMessage:
    """The model's message."""
    return AIMessage(content=text, tool_calls=list(calls))


def call(name: str, /, **arguments: Any) -> ToolCall:
    """A tool call of the model's."""
    return ToolCall(name=name, args=arguments, id=uuid4().hex, type="tool_call")


def answers(messages: Sequence[Any]) -> list[str]:
    """What the tools answered, in order."""
    return [message.text for message in messages if isinstance(message, ToolMessage)]
