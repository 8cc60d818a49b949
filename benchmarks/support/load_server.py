"""An MCP server over stdio that answers every call at once. Standard library only.

As a program it takes a JSON file with its list of tools.
"""

import json
import sys
from pathlib import Path
from typing import Any


def _answer(method: str, tools: list[Any]) -> dict[str, Any]:
    if method == "initialize":
        about = {"name": "load", "version": "1"}
        told = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": about}
        return {"result": told}
    if method == "tools/list":
        return {"result": {"tools": tools}}
    if method == "tools/call":
        return {"result": {"content": [{"type": "text", "text": "done"}]}}
    return {"error": {"code": -32601, "message": "Method not found"}}


def _main() -> None:
    tools = json.loads(Path(sys.argv[1]).read_text())
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            reply = {"jsonrpc": "2.0", "id": message["id"], **_answer(message["method"], tools)}
            print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    _main()
