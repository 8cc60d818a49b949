"""What the events of one message of a model's said of its calls, while LlamaIndex reads them too.

LlamaIndex's classes for models merge calls by themselves, and mend what was cut off. But they hand
on the provider's event in the `raw` of each response: what that says is taken instead.
"""

from collections.abc import Callable, Sequence

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, ToolCallBlock
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools import BaseTool

from deferred_tools.bridge import DIALECTS, Dialect, Fragment, Outcome, ToolCallAssembler
from deferred_tools.bridge.wire import WireEvent, field_of, read_event
from llama_index.tools.deferred.settled import agree, listed, outcomes_of, with_outcomes

_REASONS = ("finish_reason", "stop_reason", "stopReason", "done_reason", "status")
_HIDE_STARTS = DIALECTS["anthropic"]
"""Its class keeps the starts of blocks to itself, and with them who a call is."""
_HIDE_ENDS = DIALECTS["bedrock_converse"]
"""Its class keeps the reason to itself."""


class HeardCalls:
    """The calls of one message. Constant time for each event."""

    def __init__(self, tools: Sequence[BaseTool], dialect: Dialect | None) -> None:
        """Take the tools that the model was given, and how it streams calls, if that is known."""
        self._tools = tools
        self._dialect = dialect
        self._assembler: ToolCallAssembler | None = None
        self._reason: str | None = None
        self._latest: object = None
        self._ids: dict[int | str | None, str | None] = {}

    def add(self, response: ChatResponse) -> None:
        """Read the event that `response` was made of, before its class goes on to change it."""
        event = None if response.raw is self._latest else read_event(response.raw)
        self._latest = response.raw
        if event is None:
            return
        self._reason = event.reason or self._reason
        for fragment in event.fragments:
            self._feed(event, fragment, response.message)

    def settled(
        self,
        response: ChatResponse,
        selected: Callable[[ChatResponse], Sequence[ToolSelection]],
    ) -> ChatResponse:
        """The last response with exact calls; itself where its class has them right.

        `selected` is what its class makes of calls.
        """
        try:
            theirs = selected(response)
        except (ValueError, TypeError, AttributeError, KeyError):  # of what was cut off
            theirs = []
        calls = listed(response.message, theirs)
        assembler = self._assembler or ToolCallAssembler()
        outcomes = assembler.finish(self._reason)
        if not outcomes:
            reason = self._reason or _reason_in(response)
            outcomes = outcomes_of(calls, reason, self._may_be_empty)
        if agree(outcomes, calls, theirs, assembler.minted_ids):
            return response
        return with_outcomes(response, outcomes)
