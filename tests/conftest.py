"""What tests of every adapter share."""

from collections.abc import Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest

from deferred_tools import Toolset
from tests.support.tools import MakeToolset


@pytest.fixture
def toolset_of() -> Iterator[MakeToolset]:
    """Makes toolsets, and closes them."""
    with ExitStack() as opened:

        def make(*sources: object, **options: Any) -> Toolset:
            return opened.enter_context(closing(Toolset.from_sources(*sources, **options)))

        yield make
