"""A conversation's ledger as frameworks keep it: plain JSON.

The caller is not stored: the host vouches for it anew in every turn.
"""

import logging
from typing import Any

from pydantic import ValidationError

from deferred_tools.policy import Caller
from deferred_tools.session import Session

logger = logging.getLogger(__name__)


def load_session(value: object, caller: Caller | None = None) -> Session:
    """The session that `value` holds, in the hands of `caller`; an empty one if it holds none.

    One that cannot be read costs only itself: a warning says why, and tools must be searched again.
    """
    try:
        session = Session.model_validate(value or {})
    except ValidationError as error:
        why = _first(error)
        logger.warning("a stored session cannot be read, tools must be searched again: %s", why)
        session = Session()
    return session.for_caller(caller or Caller.anonymous())


def dump_session(session: Session) -> dict[str, Any]:
    """`session` as a framework's state keeps it."""
    return session.model_dump(mode="json", exclude={"caller"}, exclude_defaults=True)


def _first(error: ValidationError) -> str:
    """The first problem, without the value that has it: a log is no place for it."""
    found = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, found['loc']))}: {found['msg']}"
