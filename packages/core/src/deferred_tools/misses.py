"""Searches that found nothing, kept so that aliases can be mined from them. Opt-in.

One JSON object a line: `time` (UTC), `caller` (its kind, never its name), `query`. A query is what
a model wrote, so it may hold what a user said: words that look like secrets or addresses are
masked, only the file's owner can read it, and the host decides whether to keep one at all.
"""

import json
import logging
import os
import re
from datetime import UTC, datetime

from deferred_tools.hookspecs import hookimpl
from deferred_tools.policy import Caller
from deferred_tools.spec import one_line

logger = logging.getLogger(__name__)
_LENGTH = 500
# No one would search by them: what has letters and digits at length, an address, a `key=value`.
_SECRET = re.compile(r"(?=\S*[A-Za-z])(?=\S*\d)\S{16,}|\S+@\S+|\S+=\S+|\S{40,}")
_MASK = "***"


class MissLog:
    """A plugin that appends each search without a result to a file: `plugins=[MissLog(path)]`.

    Never fails a search: what cannot be written is said in the log of this module. When the
    file is full nothing more is written until it is moved or emptied.
    """

    def __init__(self, path: str | os.PathLike[str], *, max_bytes: int = 1_000_000) -> None:
        self.path = os.fspath(path)
        self.max_bytes = max_bytes
        """Size that the file never exceeds."""

    @hookimpl
    def deferred_tools_searched(self, caller: Caller, query: str, found: tuple[str, ...]) -> None:
        """Keep the query, unless something was found or only names were asked for."""
        if found or not query.strip():
            return
        miss = {
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "caller": caller.kind.value,
            "query": _SECRET.sub(_MASK, one_line(query, _LENGTH)),
        }
        try:
            self._append((json.dumps(miss, ensure_ascii=False) + "\n").encode())
        except OSError as error:
            logger.warning("a miss was not written to %r: %s", self.path, error.strerror)

    def _append(self, line: bytes) -> None:
        # Opened for each line and written at once: threads and processes may share the file.
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            if os.fstat(descriptor).st_size + len(line) > self.max_bytes:
                logger.warning("a miss was not written: %r is full, move or empty it", self.path)
            else:
                os.write(descriptor, line)
        finally:
            os.close(descriptor)
