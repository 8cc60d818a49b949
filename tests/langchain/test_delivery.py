"""What a model is given, and whether the state can hold what it enables."""

from typing import Any

import pytest
from langchain_core.messages import AnyMessage, ToolMessage

from deferred_tools.errors import ConfigurationError
from langchain_deferred_tools.delivery import check_state
from langchain_deferred_tools.state import STATE_KEY
from tests.support.scripted_model import call, says

ASKED = call("tool_search", names=["clock"])
FOUND = ToolMessage("", name="tool_search", tool_call_id="1", artifact={"enabled": ["clock"]})
MESSAGES: list[AnyMessage] = [says(ASKED), FOUND]


def test_a_state_without_a_ledger_that_should_have_one_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match="no key 'deferred_tools'"):
        check_state({"messages": MESSAGES})


@pytest.mark.parametrize("ledger", [{}, {"ledger": "damaged"}])
def test_a_ledger_that_was_reset_or_damaged_in_between_is_no_error(ledger: dict[str, Any]) -> None:
    check_state({"messages": MESSAGES, STATE_KEY: ledger})


def test_what_was_enabled_in_an_earlier_step_is_not_looked_for() -> None:
    check_state({"messages": [*MESSAGES, says(text="ok")]})
