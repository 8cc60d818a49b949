"""What the events of one message of a model's said of its calls, while LlamaIndex reads them too.

LlamaIndex's classes for models merge calls by themselves, and mend what was cut off. But they hand
on the provider's event in the `raw` of each response: what that says is taken instead.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from llama_index.core.base.llms.types import ChatMessage, ChatResponse, ToolCallBlock
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools import BaseTool

from deferred_tools.bridge import DIALECTS, Dialect, Fragment, ToolCallAssembler
from deferred_tools.bridge.wire import field_of, read_event
from llama_index.tools.deferred.settled import agree, listed, whole_outcomes, with_outcomes

Select = Callable[[ChatResponse], Sequence[ToolSelection]]
"""What a model's class makes of the calls in a response."""

_HIDES_STARTS = DIALECTS["anthropic"]
"""The class for it keeps the starts of blocks to itself, and with them who a call is."""
_HIDES_ENDS = DIALECTS["bedrock_converse"]
"""The class for it keeps to itself why the message ended."""
_REASONS = ("finish_reason", "stop_reason", "stopReason", "done_reason")


class HeardCalls:
    """The calls of one message. Constant time for each event."""

    def __init__(self, tools: Sequence[BaseTool], dialect: Dialect | None) -> None:
        """Take the tools that the model was given, and how it streams calls if that is known."""
        self._tools = tools
        self._dialect = dialect
        self._assembler: ToolCallAssembler | None = None
        self._reason: str | None = None
        self._latest: object = None
        self._started: dict[int | str | None, str | None] = {}

    def add(self, response: ChatResponse) -> None:
        """Read the event that `response` was made of, before its class changes it."""
        event = None if response.raw is self._latest else read_event(response.raw)
        self._latest = response.raw
        if event is None:
            return
        self._reason = event.reason or self._reason
        for said in event.fragments:
            hidden = event.dialect is _HIDES_STARTS
            fragment = self._with_start(said, response.message) if hidden else said
            if fragment is None:
                continue
            if self._assembler is None:
                self._assembler = self._made(self._dialect or event.dialect)
                if event.dialect is _HIDES_ENDS:
                    self._reason = "end"
            self._assembler.feed(fragment)

    def settled(self, response: ChatResponse, select: Select) -> ChatResponse:
        """The last response with exact calls; itself where its class has them right."""
        try:
            theirs = select(response)
        except (ValueError, TypeError, AttributeError, KeyError):  # of what was cut off
            theirs = ()
        calls = listed(response.message, theirs)
        reason = self._reason or _reason_in(response)
        assembler = self._assembler
        if assembler is None:
            assembler = self._made(DIALECTS["openai_chat"])
            outcomes = whole_outcomes(assembler, calls, reason)
        else:
            outcomes = assembler.finish(reason)
        if agree(outcomes, calls, theirs, assembler.minted_ids):
            return response
        return with_outcomes(response, outcomes)

    def _made(self, dialect: Dialect) -> ToolCallAssembler:
        return ToolCallAssembler(dialect, may_be_empty=self._may_be_empty)

    def _may_be_empty(self, name: str) -> bool:
        """Whether the tool requires no arguments; one that is not bound is refused later."""
        found = (tool.metadata for tool in self._tools if tool.metadata.name == name)
        metadata = next(found, None)
        return metadata is None or not metadata.get_parameters_dict().get("required")

    def _with_start(self, fragment: Fragment, message: ChatMessage) -> Fragment | None:
        """`fragment` with who the call is, as the message shows it first; None if it is of none.

        Texts have ends too, and the provider's own tools have arguments.
        """
        if fragment.id or fragment.index in self._started:
            self._started.setdefault(fragment.index, fragment.id)
            return fragment
        known = self._started.values()
        for block in message.blocks:
            if isinstance(block, ToolCallBlock) and block.tool_call_id not in known:
                self._started[fragment.index] = block.tool_call_id
                announced = block.tool_kwargs if fragment.done else None
                return replace(
                    fragment, id=block.tool_call_id, name=block.tool_name, whole=announced
                )
        return None


def _reason_in(response: ChatResponse) -> str | None:
    """The provider's word for why the message ended, where its class has put it elsewhere."""
    for given in (response.message.additional_kwargs, response.additional_kwargs):
        word = field_of(given, *_REASONS)
        if isinstance(word, str):
            return word
    return None
