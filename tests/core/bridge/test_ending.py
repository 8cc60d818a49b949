"""Providers' words for how a message ended are understood, and others are not trusted."""

import pytest

from deferred_tools.bridge.ending import Ending


@pytest.mark.parametrize(
    "word", ["stop", "STOP", "tool_calls", "tool-calls", "tool_use", "end_turn"]
)
def test_a_model_that_wanted_to_end_has_finished(word: str) -> None:
    assert Ending.of(word) is Ending.FINISHED


@pytest.mark.parametrize(
    "word",
    [
        "length",
        "max_tokens",
        "MAX_TOKENS",
        "max_output_tokens",
        "incomplete",
        "model_length",
        "model_context_window_exceeded",
        "content_filter",
        "SAFETY",
        "refusal",
        "failed",
    ],
)
def test_a_limit_a_filter_or_a_failure_cuts(word: str) -> None:
    assert Ending.of(word) is Ending.CUT


@pytest.mark.parametrize("word", [None, "", "stop_sequence", "OTHER", "whatever"])
def test_other_words_say_nothing(word: str | None) -> None:
    assert Ending.of(word) is Ending.UNKNOWN
