"""Whole searches, as they are asked and answered, over real tools."""

import re
from collections.abc import Callable, Collection, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from support.report import Measured, Row, Table

from deferred_tools.evaluation.data import read_queries, read_tools, sample
from deferred_tools.evaluation.run import evaluate
from deferred_tools.retrievers.base import Hit, Retriever
from deferred_tools.retrievers.bm25 import BM25Retriever
from deferred_tools.retrievers.builtin import builtin
from deferred_tools.retrievers.engine import Engine, python_engine
from deferred_tools.spec import ToolSpec

RETRIEVERS = ("bm25", "words", "keyword")
SETS = ("livemcpbench", "pool")
"""About 500 tools, and about 17,600."""
MOST = 100
PURE = "bm25, pure Python"
PEER = "fastmcp"


def measure_whole(folder: Path, names: Sequence[str]) -> Measured:
    """Retrievers of those names, the default without numpy, and FastMCP's search."""
    made: dict[str, Callable[[], Retriever]] = {name: builtin(name) for name in names}
    made |= {PURE: partial(BM25Retriever, engine=_pure), PEER: FastMCPSearch}
    return Measured([_table(folder, set_name, made) for set_name in SETS])


def _pure(_: int) -> Engine:
    return python_engine()


def _table(folder: Path, set_name: str, made: dict[str, Callable[[], Retriever]]) -> Table:
    tools = read_tools(folder / "data" / set_name / "tools.jsonl.gz").rows
    asked = sample(read_queries(folder / "data" / set_name / "dev.jsonl.gz").rows, MOST)
    rows: list[Row] = []
    for name, make in made.items():
        try:
            found = evaluate(name, make(), tools, asked)
        except ImportError as error:
            rows.append({"search": f"{name}: {error}", "index s": "", "p50 us": "", "p95 us": ""})
            continue
        latency = found.latency_us
        rows.append(
            {
                "search": name,
                "index s": found.index_seconds,
                "p50 us": latency.p50,
                "p95 us": latency.p95,
            }
        )
    words = sum(len(query.text.split()) for query in asked) / len(asked)
    title = f"{len(tools):,} real tools ({set_name}), requests of {words:.0f} words on average"
    return Table(title, rows)


class FastMCPSearch:
    """FastMCP's own search as a retriever: what its search tool does, but for the rendering."""

    def __init__(self) -> None:
        self._search = import_module("fastmcp.server.transforms.search").BM25SearchTransform
        self._tool = import_module("fastmcp.tools.base").Tool
        self._tools: list[Any] = []

    def index(self, specs: Sequence[ToolSpec]) -> None:
        self._transform = self._search(max_results=10)
        self._tools = [
            self._tool(
                name=re.sub(r"[^A-Za-z0-9_-]", "_", spec.name),
                description=spec.description,
                parameters=dict(spec.input_schema or {}),
            )
            for spec in specs
        ]
        self._names = {tool.name: spec.name for tool, spec in zip(self._tools, specs, strict=True)}
        self.search("", 1)  # it indexes when it is first asked

    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        asked = self._transform._search(self._tools, query)
        try:
            asked.send(None)  # it waits for nothing
        except StopIteration as answered:
            found = answered.value
        return [Hit(self._names[tool.name], -rank) for rank, tool in enumerate(found[:k])]
