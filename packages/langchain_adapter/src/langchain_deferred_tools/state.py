"""Where a conversation's ledger lives in LangChain's and LangGraph's state: one JSON value."""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.messages import AIMessage, AnyMessage, HumanMessage

from deferred_tools import stored
from deferred_tools.errors import ConfigurationError
from deferred_tools.policy import Caller
from deferred_tools.session import Session
from deferred_tools.stored import dump_session

STATE_KEY = "deferred_tools"
"""The state's key; its value is plain JSON, so that any checkpointer can carry it."""


_CHANGE = "change"


def merge_sessions(left: object, right: object) -> dict[str, Any]:
    """The reducer of `STATE_KEY`: unites both; one that cannot be read costs only itself."""
    change = right.get(_CHANGE, right) if isinstance(right, Mapping) else right
    return dump_session(load_session(left).merge(load_session(change)))


def change_to(session: Session) -> dict[str, Any]:
    """What a graph's node writes to `STATE_KEY`. Only the reducer can read it."""
    return {_CHANGE: dump_session(session)}


def load_session(value: object, caller: Caller | None = None) -> Session:
    """The session that `value` holds, in the hands of `caller`; an empty one if it holds none.

    Raises:
        ConfigurationError: The reducer has not seen it.
    """
    if isinstance(value, dict) and _CHANGE in value:
        raise ConfigurationError(
            f"the key {STATE_KEY!r} of the graph's state has lost its reducer `merge_sessions`: a "
            "state schema or another middleware declares the key again. Remove that declaration, "
            "with which clients could enable tools through the graph's input, too"
        )
    return stored.load_session(value, caller)


def state_value(state: object, key: str) -> Any:
    """A key of a graph's state, which may be a mapping or an object; None without it."""
    return state.get(key) if isinstance(state, Mapping) else getattr(state, key, None)


def messages_of(state: object) -> Sequence[AnyMessage]:
    """The messages of a graph's state."""
    messages: Sequence[AnyMessage] | None = state_value(state, "messages")
    return messages or ()


def turn_of(messages: Sequence[AnyMessage], session: Session) -> str:
    """A name for the current turn: the last thing that the user said.

    Where that has been summarised away it is still the turn of the last search, as far as we
    know: a summary does not renew a turn's budget of searches.
    """
    said = [m for m in messages if isinstance(m, HumanMessage) and _by_user(m)]
    if said:
        return said[-1].id or f"turn {len(said)}"
    return session.searches[-1].turn if session.searches else ""


def _by_user(message: HumanMessage) -> bool:
    # LangChain's mark of what middleware says in the user's place, such as a summary.
    return "lc_source" not in message.additional_kwargs


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
