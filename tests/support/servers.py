"""A small MCP server over stdio, as an entry of `mcpServers`."""

import json
import sys
from pathlib import Path
from typing import Any

RAW = Path(__file__).parents[1] / "core/sources/mcp/servers/raw.py"


def raw(*, tools: dict[str, Any], python: str = sys.executable, **script: Any) -> dict[str, Any]:
    """A small server whose tools answer with the deed, the result or the text that is given."""
    deeds = {
        name: {"result": {"content": [{"type": "text", "text": deed[5:]}]}}
        if isinstance(deed, str) and deed.startswith("text:")
        else deed
        for name, deed in tools.items()
    }
    listed = [
        {"name": name, "description": f"The tool {name}.", "inputSchema": {"type": "object"}}
        for name in tools
    ]
    return {
        "command": python,
        "args": [str(RAW), json.dumps({"tools": listed, "calls": deeds, **script})],
    }
