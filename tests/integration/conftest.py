"""What is published, installed once and kept from one run to the next."""

from pathlib import Path

import pytest

from tests.integration.installing import npm_packages, python_packages

HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker("integration")


@pytest.fixture(scope="session")
def cache(pytestconfig: pytest.Config) -> Path:
    """Where packages are kept; `pytest --cache-clear` empties it."""
    assert pytestconfig.cache is not None
    return pytestconfig.cache.mkdir("integration")


@pytest.fixture(scope="session")
def npm(cache: Path) -> Path:
    """The folder in which npm has installed what `package.json` names."""
    return npm_packages(cache)


@pytest.fixture(scope="session")
def python(cache: Path) -> Path:
    """The environment in which pip has installed what `requirements.txt` names."""
    return python_packages(cache)
