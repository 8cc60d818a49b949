"""The trifecta: what strangers write, what is secret, and a way out, in one conversation. Pure.

Whoever controls a text that a model reads can make it act. With all three together that is
enough to steal (Willison, "The lethal trifecta", 2025); with any two it is not.
"""

from collections.abc import Mapping, Set
from typing import Any

from deferred_tools.spec import ToolTag

THREE = frozenset({ToolTag.UNTRUSTED_INPUT, ToolTag.SENSITIVE, ToolTag.EGRESS})


def completes(before: Set[ToolTag], tags: Set[ToolTag]) -> bool:
    """Whether a tool with `tags` brings a conversation that has `before` to all three."""
    return bool(THREE & tags) and before | tags >= THREE


def reason(before: Set[ToolTag], tags: Set[ToolTag]) -> str:
    """Why such a tool is refused, for people and models."""
    return (
        f"it is tagged {_listed(tags)}, and this conversation already has tools tagged "
        f"{_listed(before)}: together they could carry private data out on the word of a stranger"
    )


def hinted(annotations: Mapping[str, Any]) -> frozenset[ToolTag]:
    """The tags that MCP annotations suggest. Hints of a server can only add to what is declared.

    A tool of an open world brings in what strangers write; one that also writes sends out.
    """
    if annotations.get("openWorldHint") is not True:
        return frozenset()
    if annotations.get("readOnlyHint") is True:
        return frozenset({ToolTag.UNTRUSTED_INPUT})
    return frozenset({ToolTag.UNTRUSTED_INPUT, ToolTag.EGRESS})


def _listed(tags: Set[ToolTag]) -> str:
    return ", ".join(sorted(THREE & tags)) or "nothing"
