"""A hostile MCP server over stdio: `python -m tests.support.hostile_stdio '<json>'`.

See `hostile_mind`.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Iterator

from tests.support.hostile_mind import FOREVER, Hostile, started


def over_stdio(hostile: Hostile) -> None:
    lock = threading.Lock()

    def send(parts: Iterator[bytes]) -> None:
        # A frame that is going out is not interrupted by another, unless it never ends.
        for part in parts:
            with lock:
                sys.stdout.buffer.write(part)
                sys.stdout.buffer.flush()

    sys.stderr.write(f"starting with {hostile.noise()!r}\n")
    sys.stderr.flush()
    for raw in sys.stdin:
        message = json.loads(raw)
        if message["method"] == "notifications/initialized":
            threading.Thread(target=send, args=(hostile.unasked(),), daemon=True).start()
        if "id" not in message:
            continue
        if hostile.fault == "close" and hostile.is_at(message["method"]):
            sys.stdout.flush()
            os.close(1)
            time.sleep(FOREVER)
        if hostile.fault == "garbage":
            send(iter([hostile.noise()]))
        send(hostile.reply(message))
    while hostile.fault == "deaf":
        time.sleep(1)


if __name__ == "__main__":
    over_stdio(started())
