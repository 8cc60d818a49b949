"""What the end of a message says of its last call. Knows nothing of calls."""

from enum import Enum, auto


class Ending(Enum):
    """How a message ended."""

    FINISHED = auto()
    """As the model wanted it to."""
    CUT = auto()
    """By a limit, a filter or a failure: what came last may go on."""
    UNKNOWN = auto()
    """Not said, or in a word that is not known."""

    @classmethod
    def of(cls, reason: str | None) -> "Ending":
        """By a provider's word for it: `finish_reason`, `stop_reason`, `status` or the like."""
        word = (reason or "").lower().replace("-", "_").removeprefix("finish_reason_")
        if word in _FINISHED:
            return cls.FINISHED
        return cls.CUT if word in _CUT else cls.UNKNOWN


_FINISHED = {
    *("stop", "tool_calls", "tool_call", "tool_use", "function_call"),
    *("end_turn", "pause_turn", "end", "eos", "eos_token", "complete", "completed", "finished"),
}
_LIMITS = {
    *("length", "max_length", "max_tokens", "max_output_tokens", "token_limit", "incomplete"),
    *("model_length", "context_length_exceeded", "model_context_window_exceeded"),
}
_FILTERS = {
    *("content_filter", "content_filtered", "guardrail_intervened", "refusal", "safety"),
    *("image_safety", "recitation", "blocklist", "prohibited_content", "spii", "language"),
}
_FAILURES = {
    *("error", "failed", "cancelled", "canceled", "abort", "aborted", "timeout"),
    *("insufficient_system_resource", "malformed_function_call", "malformed_model_output"),
    *("malformed_tool_use", "unexpected_tool_call", "too_many_tool_calls"),
}
_CUT = _LIMITS | _FILTERS | _FAILURES
