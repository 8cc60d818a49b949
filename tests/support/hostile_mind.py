"""What a hostile MCP server says: one fault, on command, in place of or beside good answers.

Standard library only, so that a server starts in milliseconds and can send what no SDK would;
`hostile_stdio` and `hostile_http` carry it. Keys of its script, all but the first optional:

- `fault`: one of `FAULTS`, `LISTS`, `TROUBLES` or `STATUSES`, or "" for none
- `at`: the method at which it happens
- `modern`: true to speak the protocol without a handshake
- `canary`: a word that it puts into whatever it says
- `ledger`, `pids`: files that get a line for each list and call, and for each start
- `seed`: makes the details another
"""

import json
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

MEGABYTE = b"x" * 1_000_000
HUGE = 50
MANY = 100_000
STORM = 1_000
GROWTH = 100
FOREVER = 600.0
FAULTS = {
    "silence", "die", "half and die", "half", "huge", "drip", "wrong id", "no id", "error",
    "no result", "close",
}  # fmt: skip
"""What may happen at any method, in place of a good answer."""
LISTS = {"many", "cursor loop", "duplicates", "bombs", "not a list", "flap", "quiet"}
"""What `tools/list` may hold; `flap` tells of its changes, and `quiet` does not."""
TROUBLES = {"garbage", "storm", "deaf", "die at start", "talkative"}
"""What goes on beside the answers; `deaf` heeds neither SIGTERM nor the end of its input."""
STATUSES = {"401": 401, "403": 403, "404": 404, "429": 429, "500": 500, "redirect": 302}
"""What HTTP may answer with."""
LISTED = "notifications/tools/list_changed"
Json = dict[str, Any]


def tool(name: str, **more: Any) -> Json:
    return {"name": name, "description": f"The tool {name}.", "inputSchema": {}, **more}


def bombs() -> list[Json]:
    """Schemas that cost, and one tool that is sound."""
    deep: Json = {"type": "string"}
    for _ in range(80):  # more than 200 levels no JSON reader of the SDK takes
        deep = {"type": "object", "properties": {"x": deep}}
    doubled: Json = {"a0": {"type": "string"}}
    for n in range(60):
        doubled[f"a{n + 1}"] = {"anyOf": [{"$ref": f"#/$defs/a{n}"}] * 2}
    ring = {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}
    pattern = {"type": "string", "pattern": "^(a+)+$"}
    return [
        tool("deep", inputSchema=deep),
        tool("wide", inputSchema={"properties": {f"p{n}": {} for n in range(50_000)}}),
        tool("heavy", inputSchema={"description": "x" * 2_000_000}),
        tool("doubling", inputSchema={"$defs": doubled, "properties": {"x": doubled["a60"]}}),
        tool("ring", inputSchema={"properties": {"x": ring}}),
        tool("pattern", inputSchema={"properties": {"x": pattern}}),
        tool("remote", inputSchema={"$ref": "http://127.0.0.1:9/schema.json"}),
        tool("twisted", inputSchema={"type": "int", "properties": [], "required": True}),
        tool("work"),
    ]


class Hostile:
    """Answers messages, with its fault."""

    def __init__(self, script: Json) -> None:
        self.fault: str = script["fault"]
        self._at: str = script.get("at", "")
        self._modern: bool = script.get("modern", False)
        self._canary: str = script.get("canary", "")
        self._ledger: str = script.get("ledger", "")
        self._chance = random.Random(script.get("seed", 0))  # noqa: S311 -- to be repeated by its seed
        self._lists = 0
        self._grown = 0

    def is_at(self, method: str) -> bool:
        return method == self._at

    def noise(self) -> bytes:
        """Something that is no message."""
        some = [b"\xff\xfe\x00", b"{", b"[1]", b"null", b'{"jsonrpc":"2.0"}', b"Listening on 8080"]
        return self._chance.choice(some) + f" {self._canary}\n".encode()

    def reply(self, message: Json) -> Iterator[bytes]:
        """The answer to a request, in the parts in which it is to be sent."""
        if message["method"] in {"tools/list", "tools/call"}:
            self._note(message)
        frame = {"jsonrpc": "2.0", "id": message["id"], **self._answer(message)}
        if self.is_at(message["method"]) and self.fault in FAULTS:
            yield from self._spoilt(frame)
        else:
            yield _line(frame)

    def _spoilt(self, frame: Json) -> Iterator[bytes]:
        line = _line(frame)
        cut = self._chance.randrange(1, len(line) - 2)
        match self.fault:
            case "silence":
                time.sleep(FOREVER)
            case "die":
                os._exit(3)
            case "half and die":
                yield line[:cut]
                os._exit(3)
            case "half":
                yield line[:cut]
                time.sleep(FOREVER)
            case "huge":
                yield line[:-2] + b', "more": "'
                for _ in range(HUGE):
                    yield MEGABYTE
                yield b'"}\n'
            case "drip":
                while True:
                    yield b" "
                    time.sleep(0.02)
            case "wrong id":
                yield _line({**frame, "id": frame["id"] + 1_000_000})
                time.sleep(FOREVER)
            case "no id":
                yield _line({**frame, "id": None})
                time.sleep(FOREVER)
            case "error":
                error = {"code": -32603, "message": f"the record is locked {self._canary}"}
                yield _line({"jsonrpc": "2.0", "id": frame["id"], "error": error})
            case "no result":
                yield _line({"jsonrpc": "2.0", "id": frame["id"], "result": "no"})
                time.sleep(FOREVER)

    def _answer(self, message: Json) -> Json:
        method = message["method"]
        if method == "server/discover" and self._modern:
            found = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
            return {
                "result": {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"} | found
            }
        if method == "initialize":
            capable = {"tools": {"listChanged": True}}
            about = {"serverInfo": {"name": "hostile", "version": "1"}, "capabilities": capable}
            return {"result": {"protocolVersion": "2025-11-25", **about}}
        if method == "tools/list":
            return {"result": self._list()}
        if method == "tools/call":
            return {"result": {"content": [{"type": "text", "text": "done"}]}}
        return {"error": {"code": -32601, "message": "Method not found"}}

    def _list(self) -> Json:
        self._lists += 1
        tools = [tool("work"), tool("other", description=f"Says {self._canary}.")]
        lists: dict[str, Callable[[], Json]] = {
            "many": lambda: {"tools": tools + [tool(f"t{n}") for n in range(MANY)]},
            "cursor loop": lambda: {"tools": [tool(f"t{self._lists}")], "nextCursor": "again"},
            "duplicates": lambda: {"tools": tools * 3},
            "bombs": lambda: {"tools": bombs()},
            "not a list": lambda: {"tools": {"work": tools[0]}},
            "flap": lambda: {"tools": tools if self._lists % 2 else tools[:1]},
            "quiet": lambda: {"tools": tools if self._lists % 2 else tools[:1]},
            "storm": lambda: {"tools": tools + [tool(f"grown{n}") for n in range(self._grown)]},
        }
        return lists.get(self.fault, lambda: {"tools": tools})()

    def unasked(self) -> Iterator[bytes]:
        """What it says without being asked; without end for some faults."""
        listed = _line({"jsonrpc": "2.0", "method": LISTED})
        for number in range(STORM if self.fault == "storm" else 0):
            self._grown += number % GROWTH == 0
            yield listed
            time.sleep(0.003)
        while self.fault == "flap":
            yield listed
            time.sleep(0.05)
        while self.fault == "talkative":
            log = {"level": "info", "data": self._canary}
            yield _line({"jsonrpc": "2.0", "method": "notifications/message", "params": log})
            yield self.noise()
            time.sleep(0.003)

    def _note(self, message: Json) -> None:
        if self._ledger:
            with Path(self._ledger).open("a") as ledger:
                arguments = message.get("params", {}).get("arguments")
                ledger.write(f"{message['method']} {time.monotonic()} {json.dumps(arguments)}\n")


def _line(frame: Json) -> bytes:
    return json.dumps(frame).encode() + b"\n"


def started() -> Hostile:
    """What the script on the command line asks for, once the process has begun."""
    script = json.loads(sys.argv[1])
    if "pids" in script:
        with Path(script["pids"]).open("a") as pids:
            pids.write(f"{os.getpid()}\n")
    if script["fault"] == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if script["fault"] == "die at start":
        sys.exit(f"no key: {script.get('canary')}")
    return Hostile(script)
