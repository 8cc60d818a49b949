"""Asks the host by an interrupt of LangGraph's whether a tool may complete the trifecta.

Needs a checkpointer, as every interrupt does. The node runs from its start when it resumes.
"""

from collections.abc import Collection, Sequence

from langgraph.types import interrupt

from deferred_tools.approval import ApprovalRequest, Approve

KIND = "deferred_tools_approval"
"""`kind` of the interrupt's value, which is `{"kind": KIND, "tools": [...]}`, plain JSON."""


def asking_host(*, alone: bool) -> Approve:
    """What asks the host and waits for the answer: True, False, or a list of names.

    True lets all through that was asked about, where the call is `alone` in its node: for calls
    that share a node LangGraph cannot tell whose answer it is, so the answer must name the tools.
    Any other answer lets nothing through.
    """

    def ask(requests: Sequence[ApprovalRequest]) -> tuple[str, ...]:
        names = [request.spec.name for request in requests]
        tools = [request.data for request in requests]
        return _let_through(interrupt({"kind": KIND, "tools": tools}), names, alone=alone)

    return ask


def _let_through(answer: object, names: Collection[str], *, alone: bool) -> tuple[str, ...]:
    if answer is True and alone:
        return tuple(names)
    return tuple(name for name in names if isinstance(answer, list) and name in answer)
