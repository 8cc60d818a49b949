"""Waiting for what another thread is about to do."""

import threading
import time
from collections.abc import Callable


def until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    """Wait for what another thread is about to do."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        threading.Event().wait(0.002)
