"""The public sets that searches are measured on: their dev halves, in the shared folder."""

from collections.abc import Sequence
from pathlib import Path

from deferred_tools.evaluation.data import Query, read_queries, read_tools, sample
from deferred_tools.spec import ToolSpec

SETS = ("livemcpbench", "shortmix", "metatool", "bfcl", "sealtools", "toolbench")
SHORT = "shortmix"
"""The set of short requests, in which one wrong word weighs most."""
MOST = 300
"""Queries of a set that are asked, unless told otherwise."""

Set = tuple[Sequence[ToolSpec], Sequence[Query]]


def load(folder: Path, name: str, most: int = MOST) -> Set:
    """The tools of a set and at most `most` of its queries, by the hash of their ids."""
    tools = read_tools(folder / "data" / name / "tools.jsonl.gz")
    queries = read_queries(folder / "data" / name / "dev.jsonl.gz")
    return tools.rows, sample(queries.rows, most)
