"""Tools of both kinds, and toolsets that are closed afterwards."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest

from deferred_tools import Toolset
from tests.support.llama_agents import Tools
from tests.support.tools import MakeToolset


@pytest.fixture(params=["function", "llama_index"])
def tools(request: pytest.FixtureRequest) -> Tools:
    """Tools that note each run, of both kinds: functions are called by us, others as they are."""
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
