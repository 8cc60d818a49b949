"""How tools and sources are doing, as JSON, for hosts. Holds no value that is secret."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from deferred_tools.registered import AbsentTool, RegisteredTool, SourceView
from deferred_tools.sources.base import SourceStatus


def status_of(
    tools: Iterable[RegisteredTool],
    absent: Iterable[AbsentTool],
    sources: Mapping[str, SourceView],
    warnings: Iterable[str],
) -> dict[str, Any]:
    """`tools` and `tiers` count; `routes` tell of each tool, `absent` why others are not there.

    `sources` has each source's state with its reason, `warnings` what should be read.
    """
    entries = list(tools)
    tiers = Counter(entry.spec.tier.value for entry in entries)
    return {
        "tools": len(entries),
        "tiers": dict(tiers),
        "sources": {view.name: _source(view) for view in sources.values()},
        "routes": [_route(entry, sources[entry.source]) for entry in entries],
        "absent": [
            {"name": tool.spec.name, "absence": tool.absence.value, "why": tool.why}
            for tool in absent
        ],
        "warnings": list(warnings),
    }


def _source(view: SourceView) -> dict[str, Any]:
    return {
        "tier": view.tier.value,
        "status": view.state.status.value,
        "tools": len(view.state.tools),
        "reason": view.state.reason,
    }


def _route(entry: RegisteredTool, source: SourceView) -> dict[str, Any]:
    ran = entry.mapped.target if entry.mapped else entry.spec
    return {
        "name": entry.spec.name,
        "route": entry.route.value,
        "source": ran.source,
        "tool": ran.tool,
        "available": source.state.status is SourceStatus.READY,
        "tags": sorted(entry.spec.tags),
    }
