"""Each behaviour once with each adapter, and tools of its framework's kind."""

from importlib import import_module

import pytest

from tests.conformance.driver import Driver, Tools
from tests.conformance.requirements import ADAPTERS


@pytest.fixture(params=list(ADAPTERS))
def driver(request: pytest.FixtureRequest) -> Driver:
    """The adapter; its framework is imported only where it is asked for."""
    module, name = ADAPTERS[request.param].split(":")
    made: Driver = getattr(import_module(module), name)()
    return made


@pytest.fixture(params=["function", "own kind"])
def tools(request: pytest.FixtureRequest, driver: Driver) -> Tools:
    """Tools of both kinds: functions are run by us, others by their framework."""
    return Tools(request.param, driver=driver)


@pytest.fixture
def functions(driver: Driver) -> Tools:
    """Plain functions: where the kind makes no difference."""
    return Tools(driver=driver)
