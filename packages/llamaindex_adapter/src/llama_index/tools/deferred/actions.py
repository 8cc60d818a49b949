"""What a ReActAgent's model wrote as a call, if it wrote it to the end.

LlamaIndex mends what is no JSON, which makes a valid call of one that was cut off.
"""

from llama_index.core.agent.react.output_parser import ReActOutputParser
from llama_index.core.agent.react.types import ActionReasoningStep, BaseReasoningStep

from deferred_tools.bridge import Invalid, Reason
from deferred_tools.bridge.scanner import ObjectScanner


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


def _is_cut(output: str) -> bool:
    """Whether the object that LlamaIndex takes for the arguments has no end."""
    _, _, action = output.partition("Action:")
    _, _, written = action.partition("Action Input:")
    begun = written.find("{")
    if begun < 0:
        return False
    scanner = ObjectScanner()
    scanner.feed(written[begun:])
    return not scanner.ended
