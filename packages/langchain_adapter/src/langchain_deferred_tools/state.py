"""Where a conversation's ledger lives in LangChain's and LangGraph's state: one JSON value.

The caller is not stored: the host vouches for it anew in every turn.
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from pydantic import ValidationError

from deferred_tools.policy import Caller
from deferred_tools.session import Session

logger = logging.getLogger(__name__)

STATE_KEY = "deferred_tools"
"""The state's key; its value is plain JSON, so that any checkpointer can carry it."""


def merge_sessions(left: dict[str, Any] | None, right: dict[str, Any] | None) -> dict[str, Any]:
    """The reducer of `STATE_KEY`: unites what was enabled side by side."""
    if not left or not right:
        return dict(left or right or {})
    return dump_session(load_session(left).merge(load_session(right)))


def load_session(value: object, caller: Caller | None = None) -> Session:
    """The session that `value` holds, in the hands of `caller`; an empty one if it holds none."""
    try:
        session = Session.model_validate(value or {})
    except ValidationError as error:
        logger.warning("a stored session cannot be read, tools must be searched again: %s", error)
        session = Session()
    return session.for_caller(caller or Caller.anonymous())


def dump_session(session: Session) -> dict[str, Any]:
    """`session` as the state keeps it."""
    return session.model_dump(mode="json", exclude={"caller"}, exclude_defaults=True)


def state_value(state: object, key: str) -> Any:
    """A key of a graph's state, which may be a mapping or an object; None without it."""
    return state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)


def messages_of(state: object) -> Sequence[AnyMessage]:
    """The messages of a graph's state."""
    messages: Sequence[AnyMessage] | None = state_value(state, "messages")
    return messages or ()


def turn_of(messages: Sequence[AnyMessage]) -> str:
    """A name for the current turn: the last thing that the user said."""
    said = [m for m in messages if isinstance(m, HumanMessage)]
    return (said[-1].id or f"turn {len(said)}") if said else ""


def last_calls(messages: Sequence[AnyMessage]) -> tuple[AIMessage | None, list[AnyMessage]]:
    """The model's last message and what came after it."""
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        if isinstance(message, AIMessage):
            return message, list(messages[at + 1 :])
    return None, list(messages)


def position_of(call_id: str | None, name: str, messages: Sequence[AnyMessage]) -> int:
    """The place of a call among the calls of the same name in the model's last message."""
    message, _ = last_calls(messages)
    ids = [c["id"] for c in message.tool_calls if c["name"] == name] if message else []
    return ids.index(call_id) if call_id in ids else 0
