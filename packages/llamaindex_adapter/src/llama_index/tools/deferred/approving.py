"""Asks the host whether a tool may complete the trifecta: by LlamaIndex's human-input events.

The run's stream has an `InputRequiredEvent` with `kind`, `request` and `tools`; the host sends a
`HumanResponseEvent` with the same `request`, and `approved`: True, or the names of those tools
that it lets through. Anything else lets nothing through. Both are events of LlamaIndex's own, so
that every serializer knows them. The step starts anew when the answer is there.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, NoReturn, TypeVar

from llama_index.core.workflow import Context, HumanResponseEvent, InputRequiredEvent
from workflows.runtime.types.results import WaitingForEvent

from deferred_tools.approval import ApprovalRequest, Approve
from llama_index.tools.deferred.ledger import digest

KIND = "deferred_tools_approval"
"""`kind` of the event that asks."""

_T = TypeVar("_T")


async def with_host(ctx: Context[Any], call: object, do: Callable[[Approve], Awaitable[_T]]) -> _T:
    """What `do` gives, which may ask the host about tools.

    `call` is plain JSON that tells the call apart from those beside it.

    Raises:
        WaitingForEvent: The host has not answered yet. It must reach the workflow.
    """
    try:
        return await do(_raise)
    except _AskedError as asked:
        allowed = await _answer(ctx, call, asked.requests)
    return await do(lambda _: allowed)


class _AskedError(Exception):
    """Leads out of code that is not async, so that nothing else has happened yet."""

    def __init__(self, requests: Sequence[ApprovalRequest]) -> None:
        super().__init__("the host is to be asked")
        self.requests = requests


def _raise(requests: Sequence[ApprovalRequest]) -> NoReturn:
    raise _AskedError(requests)


async def _answer(
    ctx: Context[Any], call: object, requests: Sequence[ApprovalRequest]
) -> tuple[str, ...]:
    names = [request.spec.name for request in requests]
    try:
        event = await ctx.wait_for_event(
            HumanResponseEvent, requirements={"call": digest([call, names])}
        )
    except WaitingForEvent as waiting:
        # Named by LlamaIndex, which tells two calls apart that are alike in everything.
        waiter = waiting.add.waiter_id
        told = {
            "kind": KIND,
            "request": digest(waiter),
            "tools": [request.data for request in requests],
        }
        event = await ctx.wait_for_event(
            HumanResponseEvent,
            waiter_event=InputRequiredEvent.model_validate(told),
            waiter_id=waiter,
            requirements={"request": told["request"]},
            timeout=None,
        )
    return _let_through(event.get("approved"), names)


def _let_through(answer: Any, names: Iterable[str]) -> tuple[str, ...]:
    if answer is True:
        return tuple(names)
    return tuple(name for name in names if isinstance(answer, list) and name in answer)
