"""An MCP server by the letter of a script: what to offer, and how to misbehave.

Run as `python raw.py '<json>'`. Speaks raw JSON-RPC over stdio, without the SDK, so that it can
say what no SDK would, and starts in milliseconds. Keys of the script, all optional:

- `noise`: lines to print first; `errors`: text for standard error
- `exit`: exit code, before anything is answered
- `discover`: `die`, `ignore` or (default) an error, as servers of the old protocol answer
- `answer`: false to answer nothing at all
- `initialize`: what to answer the handshake with
- `pages`: cursor ("" for the first) to a page of `tools/list`, whatever it holds
- `tools`: the one page there is, for short
- `calls`: tool name to a `{"result"}`, an `{"error"}`, or a deed (see `deeds` below)
- `ledger`: a file that gets a line for each call, list and cancellation
- `pids`: a file that gets the process id, one line for each start
- `stubborn`: true to stay when asked to leave
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any


def say(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def note(script: dict[str, Any], line: str) -> None:
    if "ledger" in script:
        with Path(script["ledger"]).open("a") as ledger:
            ledger.write(line + "\n")


def call(
    script: dict[str, Any], name: str, arguments: dict[str, Any], meta: dict[str, Any]
) -> dict[str, Any]:
    """Answer a call, or do something worse."""
    note(script, f"{name} {json.dumps(arguments)}")
    deed = script["calls"].get(name)
    text: dict[str, Any] = {"content": [{"type": "text", "text": "done"}]}
    if isinstance(deed, dict):
        return deed
    if deed == "die":
        os._exit(3)
    elif deed == "environment":
        text["structuredContent"] = dict(os.environ)
    elif deed == "echo":
        text["structuredContent"] = arguments
    elif deed == "offspring":
        sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        text["structuredContent"] = sleeper.pid
    elif deed == "grow":
        for number in range(arguments["times"]):
            script["tools"].append({"name": f"grown{number}", "inputSchema": {"type": "object"}})
            say({"method": "notifications/tools/list_changed"})
    elif deed in {"spoil", "mend"}:
        script["pages"] = {"": {}} if deed == "spoil" else {}
        say({"method": "notifications/tools/list_changed"})
    elif deed == "silence":
        return {}
    elif deed == "progress":
        for done in (1, 2):
            told = {"progress": done, "total": 2, "message": f"step {done}"}
            token = meta.get("progressToken")
            say({"method": "notifications/progress", "params": {"progressToken": token, **told}})
    return {"result": text}


def answer(script: dict[str, Any], method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "server/discover":
        if script.get("discover") == "die":
            os._exit(1)
        if script.get("discover") == "ignore":
            return {}
    if method == "initialize":
        capable = {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "raw", "version": "1"},
        }
        return {"result": script.get("initialize", capable)}
    if method == "tools/list":
        note(script, "tools/list")
        pages = script.get("pages") or {"": {"tools": script["tools"]}}
        return {"result": pages[params.get("cursor", "")]}
    if method == "tools/call":
        return call(script, params["name"], params.get("arguments", {}), params.get("_meta", {}))
    return {"error": {"code": -32601, "message": "Method not found"}}


def main() -> None:
    script = {"tools": [], "calls": {}, **json.loads(sys.argv[1])}
    if "pids" in script:
        with Path(script["pids"]).open("a") as pids:
            pids.write(f"{os.getpid()}\n")
    if script.get("stubborn"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    for line in script.get("noise", []):
        sys.stdout.buffer.write(line.encode("latin-1") + b"\n")
    sys.stdout.buffer.flush()
    sys.stderr.write(script.get("errors", ""))
    if "exit" in script:
        sys.exit(script["exit"])
    for line in sys.stdin:
        message = json.loads(line)
        if message["method"] == "notifications/cancelled":
            note(script, "cancelled")
        if "id" not in message or not script.get("answer", True):
            continue
        if said := answer(script, message["method"], message.get("params", {})):
            say({"id": message["id"], **said})
    while script.get("stubborn"):
        time.sleep(1)


if __name__ == "__main__":
    main()
