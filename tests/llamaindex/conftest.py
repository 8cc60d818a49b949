"""Tools of both kinds, and toolsets that are closed afterwards."""

import pytest

from tests.support.llama_agents import Tools


@pytest.fixture(params=["function", "llama_index"])
def tools(request: pytest.FixtureRequest) -> Tools:
    """Tools that note each run, of both kinds: functions are called by us, others as they are."""
    return Tools(request.param)


@pytest.fixture
def functions() -> Tools:
    """Tools that note each run, as plain functions: where the kind makes no difference."""
    return Tools("function")
