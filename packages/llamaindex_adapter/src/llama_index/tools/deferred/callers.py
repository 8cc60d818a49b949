"""Who runs a workflow, as the host tells it."""

import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from llama_index.core.workflow import Context

from deferred_tools.policy import Caller

logger = logging.getLogger(__name__)

CallerOf = Callable[[Context[Any]], Caller | Awaitable[Caller | None] | None]
"""From the step's context to who calls; None or an error: nobody."""


async def caller_in(ctx: Context[Any], told: Caller | CallerOf) -> Caller:
    """Who calls; anonymous, who may nothing, where that cannot be told."""
    if isinstance(told, Caller):
        return told
    try:
        found: object = told(ctx)
        if inspect.isawaitable(found):
            found = await found
    except Exception:
        logger.exception("the caller could not be told: treated as anonymous")
        return Caller.anonymous()
    return Caller.told(found)
