"""Each behaviour twice, in `invoke` and in `ainvoke`; toolsets that are closed afterwards."""

import pytest

from tests.support.agents import Runner, Tools


@pytest.fixture(params=["sync", "async"])
def run(request: pytest.FixtureRequest) -> Runner:
    """Runs an agent, in both colours."""
    return Runner(request.param)


@pytest.fixture(params=["function", "langchain"])
def tools(request: pytest.FixtureRequest) -> Tools:
    """Tools that note each run, of both kinds: functions are called by us, others by LangChain."""
    return Tools(request.param)


@pytest.fixture
def functions() -> Tools:
    """Tools that note each run, as plain functions: where the kind makes no difference."""
    return Tools("function")
