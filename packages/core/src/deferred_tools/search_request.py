"""`tool_search` as the model sees it, and what it asked, read leniently. Pure."""

import json
from dataclasses import dataclass
from typing import Any

from deferred_tools.limits import Limits

NAME = "tool_search"
DEFAULT_LIMIT = 5
_NAME_LENGTH = 256
DESCRIPTION = (
    "Find tools and enable them for this conversation. The tools in <available_tools> cannot be "
    "called until this tool has enabled them. Say what you need to do in `query`, or give exact "
    "names in `names`. What it enables can be called from your next message on, not in the same "
    "message."
)
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {
            "type": "string",
            "description": "What you need to do, in your own words.",
        },
        "names": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Exact tool names from <available_tools>, if you know which you want.",
        },
        "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": 20,
            "description": "Most tools to enable by query (default 5). A task with several parts "
            "needs more.",
        },
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """What the model asked, cleaned and bounded."""

    query: str = ""
    names: tuple[str, ...] = ()
    limit: int = DEFAULT_LIMIT
    notes: tuple[str, ...] = ()

    @property
    def asked(self) -> str:
        """What was asked, as one text."""
        return self.query or ", ".join(self.names)

    @classmethod
    def parse(cls, arguments: Any, limits: Limits) -> "SearchRequest":
        """Read a model's arguments leniently: what cannot be used is left out, and said."""
        given = arguments if isinstance(arguments, dict) else {"query": arguments}
        notes = []
        query = given.get("query")
        query = _clean(query) if isinstance(query, str) else ""
        if len(query) > limits.query_length:
            notes.append(f"The query was cut to {limits.query_length} characters.")
            query = query[: limits.query_length]
        names = tuple(dict.fromkeys(_strings(given.get("names"))))
        if len(names) > limits.names_per_search:
            notes.append(f"Only the first {limits.names_per_search} names were looked at.")
            names = names[: limits.names_per_search]
        limit = _number(given.get("limit"))
        if limit > limits.search_limit:
            notes.append(f"One query enables at most {limits.search_limit} tools.")
        limit = max(1, min(limit, limits.search_limit))
        return cls(query=query, names=names, limit=limit, notes=tuple(notes))


def _strings(value: Any) -> list[str]:
    """A list of names, also from one name or from a list that came as text."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            value = value.split(",")
    found = value if isinstance(value, list) else [value]
    names = (_clean(item)[:_NAME_LENGTH] for item in found if isinstance(item, str))
    return [name for name in names if name]


def _number(value: Any) -> int:
    """A limit, also one that came as text."""
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value.strip()[:9])
    return value if isinstance(value, int) and not isinstance(value, bool) else DEFAULT_LIMIT


def _clean(text: str) -> str:
    """`text` as any store can keep it: half a surrogate pair, which JSON may spell, is none."""
    return text.strip().encode("utf-8", "replace").decode()
