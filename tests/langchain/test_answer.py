"""An answer in any of LangGraph's forms can change the state as well."""

from typing import Any

import pytest
from langchain_core.messages import ToolMessage
from langgraph.types import Command

from langchain_deferred_tools.answer import messages_in, with_update

MESSAGE = ToolMessage("done", tool_call_id="1")
CHANGE = {"key": "value"}


@pytest.mark.parametrize(
    ("answer", "changed"),
    [
        (MESSAGE, Command(update={"messages": [MESSAGE], **CHANGE})),
        (
            Command(update={"messages": [MESSAGE]}, goto="next"),
            Command(update={"messages": [MESSAGE], **CHANGE}, goto="next"),
        ),
    ],
)
def test_a_message_or_a_command_carries_the_change(answer: Any, changed: Any) -> None:
    assert with_update(answer, CHANGE) == changed


@pytest.mark.parametrize(
    "answer",
    [
        Command(update={"messages": [MESSAGE]}, graph=Command.PARENT),
        Command(update={"messages": [MESSAGE], "key": "its own"}),
        Command(update=[("messages", [MESSAGE])]),
        [Command(update={"messages": [MESSAGE]}), Command(update={})],
    ],
)
def test_what_cannot_carry_it_is_followed_by_it(answer: Any) -> None:
    several = answer if isinstance(answer, list) else [answer]
    changed: Any = with_update(answer, CHANGE)
    assert changed == [*several, Command(update=CHANGE)]
    assert list(messages_in(changed)) == list(messages_in(answer))
