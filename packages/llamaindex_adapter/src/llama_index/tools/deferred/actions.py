"""What a ReActAgent's model wrote as a call, if it wrote it to the end.

LlamaIndex mends what is no JSON, which makes a valid call of one that was cut off.
"""

from typing import Any

from llama_index.core.agent.react.output_parser import ReActOutputParser
from llama_index.core.agent.react.types import ActionReasoningStep, BaseReasoningStep

from deferred_tools.bridge import Invalid, Reason
from deferred_tools.bridge.scanner import ObjectScanner

_INPUT = "Action Input:"


class WholeActions(ReActOutputParser):
    """Reads what another parser reads, but no call whose arguments do not come to their end."""

    def __init__(self, inner: ReActOutputParser) -> None:
        """Take the agent's own parser."""
        self._inner = inner

    def parse(self, output: str, is_streaming: bool = False) -> BaseReasoningStep:
        """The step that `output` is.

        Raises:
            ValueError: It is none, or its call was cut off; the agent tells the model.
        """
        step = self._inner.parse(output, is_streaming)
        if isinstance(step, ActionReasoningStep) and not is_streaming and _is_cut(output):
            raise ValueError(
                Invalid(
                    key="",
                    id="",
                    name=step.action,
                    reason=Reason.TRUNCATED,
                    problem="its arguments were cut off before their end",
                    raw="",
                ).message
            )
        return step

    def format(self, query: str) -> str:
        """The query, as the agent's own parser has it."""
        return self._inner.format(query)

    def _format_message(self, message: Any) -> Any:
        return self._inner._format_message(message)


def _is_cut(output: str) -> bool:
    """Whether the first object after the last mark has no end."""
    _, mark, written = output.rpartition(_INPUT)
    scanner = ObjectScanner()
    scanner.feed(written[written.find("{") :])
    return bool(mark) and scanner.started and not scanner.ended
