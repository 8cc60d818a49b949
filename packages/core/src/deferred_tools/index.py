"""Qualified ids to specs, for progressive disclosure: look around, then fetch one schema.

Knows nothing of callers, sessions or connections. Here a tool goes by its qualified id.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any, Self

from deferred_tools.limits import Limits
from deferred_tools.retrievers.substring import SubstringRetriever
from deferred_tools.spec import ToolSpec, ToolSummary
from deferred_tools.summaries import summaries

SEARCH_RESULTS_CAP = 30
"""Summaries that one search gives at most: a search that finds more should be narrowed."""


class ToolIndex:
    """An immutable index of tools by qualified id.

    A later tool takes the place of an earlier one with the same id; `warnings` tells.
    """

    def __init__(self, specs: Iterable[ToolSpec] = (), *, limits: Limits | None = None) -> None:
        limits = limits or Limits()
        self._specs: dict[str, ToolSpec] = {}
        warnings: list[str] = []
        for spec in specs:
            if spec.id in self._specs:
                warnings.append(
                    f"{spec.tool!r} of {spec.source!r} is there more than once; the last is used. "
                    "Give each tool of a source a name of its own."
                )
            self._specs[spec.id] = replace(spec, name=spec.id)
        self.warnings = tuple(warnings)
        named = tuple(self._specs.values())
        self._summaries = {tool.name: tool for tool in summaries(named, limits)}
        self._retriever = SubstringRetriever()
        self._retriever.index(named)

    @classmethod
    def from_tools(cls, specs: Iterable[ToolSpec], *, limits: Limits | None = None) -> Self:
        """The index of `specs`, in their order; of `limits`, how long a summary is."""
        return cls(specs, limits=limits)

    def search(self, query: str, limit: int = SEARCH_RESULTS_CAP) -> tuple[ToolSummary, ...]:
        """The tools whose id or description holds `query`, whatever its case; ids first.

        At most `limit`, and never more than `SEARCH_RESULTS_CAP`. An empty query gives the
        first tools in order, for a look around.
        """
        most = max(0, min(limit, SEARCH_RESULTS_CAP))
        if not query.strip():
            return tuple(islice(self._summaries.values(), most))
        hits = self._retriever.search(query, most)
        return tuple(self._summaries[hit.name] for hit in hits)

    def get_schema(self, tool_id: str) -> Mapping[str, Any] | None:
        """The input schema of one tool, as its source gave it; None if there is none."""
        spec = self._specs.get(tool_id)
        return spec.input_schema if spec else None

    def __contains__(self, tool_id: object) -> bool:
        return tool_id in self._specs

    def __len__(self) -> int:
        return len(self._specs)
