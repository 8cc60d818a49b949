"""How well our retrievers find tools: the dev halves of public sets, side by side in one run.

    python benchmarks/search_quality.py [--sets SET ...] [--retrievers NAME ...] [--most 300]

Needs the shared folder, found by DEFERRED_TOOLS_SHARED or beside the repository. Of a large set
`--most` queries are taken, by the hash of their ids. Quality is exact; the times are processor
time of this machine, good for comparing columns.
"""

import argparse
import gzip
import hashlib
import json
import math
import os
import time
from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from statistics import fmean
from typing import Any

from deferred_tools.retrievers.base import Retriever
from deferred_tools.retrievers.builtin import builtin
from deferred_tools.spec import ToolSpec

SETS = ("shortmix", "livemcpbench", "metatool", "bfcl", "toolbench")
RETRIEVERS = ("substring", "keyword", "bm25")
MOST = 300
DEPTH = 10


@dataclass(frozen=True, slots=True)
class Query:
    """A request and the names of the tools that answer it."""

    text: str
    relevant: frozenset[str]


@dataclass(frozen=True, slots=True)
class Quality:
    """Means over queries, in percent; milliseconds of processor time for one query."""

    ndcg_10: float
    recall_1: float
    recall_5: float
    complete_10: float
    """Queries of which every tool is among the first ten."""
    ms: float


def load(folder: Path, name: str, most: int = MOST) -> tuple[list[ToolSpec], list[Query]]:
    """The tools of a set and at most `most` of its queries."""
    tools = [
        ToolSpec(
            source=row.get("server") or "functions",
            tool=row["name"],
            description=row["description"] or "",
            input_schema=row["parameters"],
            name=row["id"],
        )
        for row in _rows(folder / "data" / name / "tools.jsonl.gz")
    ]
    rows = _rows(folder / "data" / name / "dev.jsonl.gz")
    rows.sort(key=lambda row: hashlib.sha256(row["id"].encode()).hexdigest())
    return tools, [Query(row["query"], frozenset(row["relevant"])) for row in rows[:most]]


def measure(retriever: Retriever, queries: Sequence[Query]) -> Quality:
    """The quality of an indexed retriever."""
    started = time.process_time()
    found = [[hit.name for hit in retriever.search(query.text, DEPTH)] for query in queries]
    ms = 1_000 * (time.process_time() - started) / len(queries)
    judged = [_judge(names, query.relevant) for names, query in zip(found, queries, strict=True)]
    return Quality(*(*(100 * fmean(column) for column in zip(*judged, strict=True)), ms))


def mean(of: Sequence[Quality]) -> Quality:
    """The mean of several sets, each of which counts the same."""
    return Quality(*(fmean(column) for column in zip(*map(astuple, of), strict=True)))


def _judge(names: Sequence[str], relevant: frozenset[str]) -> tuple[float, ...]:
    ranks = [rank for rank, name in enumerate(names) if name in relevant]
    gain = sum(1 / math.log2(rank + 2) for rank in ranks)
    best = sum(1 / math.log2(rank + 2) for rank in range(min(len(relevant), DEPTH)))
    recall = [sum(rank < k for rank in ranks) / len(relevant) for k in (1, 5)]
    return (gain / best, *recall, float(len(ranks) == len(relevant)))


def _rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=SETS)
    parser.add_argument("--retrievers", nargs="+", default=RETRIEVERS)
    parser.add_argument("--most", type=int, default=MOST)
    options = parser.parse_args()
    default = Path(__file__).parents[2] / "shared"
    folder = Path(os.environ.get("DEFERRED_TOOLS_SHARED", default))
    if not (folder / "data").is_dir():
        parser.exit(1, "No shared data: set DEFERRED_TOOLS_SHARED to the folder that holds it.\n")
    print(f"{'set':14}{'tools':>6}{'queries':>8}  {'retriever':11}{'index s':>8}", end="")
    print("".join(f"{column.name:>12}" for column in fields(Quality)))
    every: dict[str, list[Quality]] = {name: [] for name in options.retrievers}
    for set_name in options.sets:
        tools, queries = load(folder, set_name, options.most)
        for name in options.retrievers:
            retriever = builtin(name)()
            started = time.process_time()
            retriever.index(tools)
            seconds = time.process_time() - started
            quality = measure(retriever, queries)
            every[name].append(quality)
            head = f"{set_name:14}{len(tools):6}{len(queries):8}  {name:11}{seconds:8.2f}"
            print(head + _figures(quality), flush=True)
    for name, qualities in every.items():
        print(f"{'mean':14}{'':14}  {name:11}{'':8}{_figures(mean(qualities))}")


def _figures(quality: Quality) -> str:
    return "".join(f"{figure:12.2f}" for figure in astuple(quality))


if __name__ == "__main__":
    main()
