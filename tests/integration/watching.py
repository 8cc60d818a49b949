"""Waiting, and what runs on this machine."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.integration.published import PATIENCE


def until(condition: Callable[[], bool]) -> None:
    """Wait until it holds; an error after `PATIENCE` seconds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it did not come about"
        time.sleep(0.02)


def processes_with(mark: str) -> list[int]:
    """Processes that have `mark` in their environment, and so all that they have started."""
    found = []
    for environ in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # it has just ended, or is somebody else's
            if mark.encode() in environ.read_bytes():
                found.append(int(environ.parent.name))
    return found
