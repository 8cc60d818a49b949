"""Another process to go on in."""

import multiprocessing
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor

import pytest

MODULES = ["tests.llamaindex.persistence.served", "tests.llamaindex.persistence.durable"]
"""What other processes import, which takes LlamaIndex seconds."""


@pytest.fixture(scope="session")
def start_process() -> Callable[[], ProcessPoolExecutor]:
    """Starts another process; where processes can be forked off one that has imported it all."""
    forking = "forkserver" in multiprocessing.get_all_start_methods()
    processes = multiprocessing.get_context("forkserver" if forking else "spawn")
    processes.set_forkserver_preload(MODULES)
    return lambda: ProcessPoolExecutor(max_workers=1, mp_context=processes)


@pytest.fixture(scope="session")
def elsewhere(start_process: Callable[[], ProcessPoolExecutor]) -> Iterator[ProcessPoolExecutor]:
    """Another process, one for all tests."""
    with start_process() as pool:
        yield pool
