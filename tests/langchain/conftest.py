"""Each behaviour twice, in `invoke` and in `ainvoke`; toolsets that are closed afterwards."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest

from deferred_tools import Toolset
from tests.support.agents import MakeToolset, Runner, Tools


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


@pytest.fixture
def toolset_of() -> Iterator[MakeToolset]:
    """Makes toolsets, and closes them."""
    with ExitStack() as opened:

        def make(*sources: object, **options: Any) -> Toolset:
            return opened.enter_context(closing(Toolset.from_sources(*sources, **options)))

        yield make
