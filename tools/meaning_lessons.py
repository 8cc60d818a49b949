"""What the static model is fitted to: lessons from the tools and queries of the shared folder.

Knows files and texts, not vectors.
"""

import gzip
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from deferred_tools.evaluation.data import Query, read_queries, read_tools, sample
from deferred_tools.retrievers.embeddings import SHARES
from deferred_tools.retrievers.request import Request
from deferred_tools.retrievers.text import Analyser
from deferred_tools.retrievers.tool_terms import ToolTerms
from deferred_tools.retrievers.tool_text import ToolText
from deferred_tools.spec import Tier, ToolSpec

SETS = ("livemcpbench", "shortmix", "metatool", "bfcl", "sealtools", "toolbench")
"""What has tools, and queries of which the dev halves are here."""
CORPUS = "corpus"
"""Tools of real servers, without queries."""
MOST_QUERIES = 800
"""Queries of one set, so that the largest does not decide alone."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A text as the static model sees it, and what it should make of it."""

    stems: Mapping[str, int]
    """How often each stem counts."""
    texts: tuple[tuple[float, str], ...]
    """The direction is that of the sum of these texts' vectors, each times its share."""


@dataclass(frozen=True, slots=True)
class Material:
    """Tools and queries, by the name of their set."""

    tools: Mapping[str, tuple[ToolSpec, ...]]
    queries: Mapping[str, tuple[Query, ...]]

    @classmethod
    def read(cls, folder: Path) -> "Material":
        """Read the shared folder.

        Raises:
            ConfigurationError: A file of it cannot be read.
        """
        data = folder / "data"
        tools = {name: read_tools(data / name / "tools.jsonl.gz").rows for name in SETS}
        tools[CORPUS] = tuple(_corpus(folder / "corpus" / "mcp_tools.jsonl.gz"))
        queries = {name: read_queries(data / name / "dev.jsonl.gz").rows for name in SETS}
        return cls(tools, queries)

    def without(self, left_out: str) -> "Material":
        """All but a set, and but the tools of other sets that share a name or purpose with it."""
        theirs = {key for spec in self.tools[left_out] for key in _keys(spec)}
        tools = {
            name: tuple(spec for spec in specs if theirs.isdisjoint(_keys(spec)))
            for name, specs in self.tools.items()
            if name != left_out
        }
        queries = {name: rows for name, rows in self.queries.items() if name != left_out}
        return Material(tools, queries)

    def lessons(self, analyser: Analyser) -> list[Lesson]:
        """Each tool, its name and its purpose by themselves, and queries; none of them twice."""
        found: dict[object, Lesson] = {}
        for spec in chain.from_iterable(self.tools.values()):
            text = ToolText.of(spec)
            shares = tuple((share, part) for share, part in zip(SHARES, text, strict=True) if part)
            found.setdefault(text, Lesson(ToolTerms.of(spec, analyser).counts(), shares))
            for alone in filter(None, (text.name, text.purpose)):
                stems = Counter(analyser.stems(alone))
                found.setdefault(alone, Lesson(stems, ((1.0, alone),)))
        for rows in self.queries.values():
            for query in sample(rows, MOST_QUERIES):
                stems = Counter(Request.of(query.text, analyser).whole.stems)
                found.setdefault(query.text, Lesson(stems, ((1.0, query.text),)))
        return list(found.values())


def _corpus(path: Path) -> Iterator[ToolSpec]:
    """Definitions as servers gave them, one a line."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            yield ToolSpec(
                source=row["server"],
                tool=row["name"],
                description=row.get("description") or "",
                title=row.get("title") or "",
                input_schema=row.get("inputSchema"),
                tier=Tier.MCP,
            )


def _keys(spec: ToolSpec) -> set[str]:
    """What tells that two tools are one, or nearly."""
    return {spec.tool.lower(), ToolText.of(spec).purpose} - {""}
