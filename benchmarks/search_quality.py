"""How well our retrievers find tools: the dev halves of public sets, side by side in one run.

    python benchmarks/search_quality.py [--sets SET ...] [--retrievers NAME ...] [--most 300]

Needs the shared folder, found by DEFERRED_TOOLS_SHARED or beside the repository. Of a large set
`--most` queries are taken, by the hash of their ids. Quality is exact, in percent; the times are
processor time of this machine, good for comparing columns. For tools and queries of your own
there is `deferred-tools eval`.
"""

import argparse
import os
from pathlib import Path

from deferred_tools.evaluation.data import Query, read_queries, read_tools, sample
from deferred_tools.evaluation.metrics import Scores
from deferred_tools.evaluation.run import evaluate
from deferred_tools.retrievers.builtin import builtin
from deferred_tools.spec import ToolSpec

SETS = ("shortmix", "livemcpbench", "metatool", "bfcl", "toolbench")
RETRIEVERS = ("substring", "keyword", "bm25")
MOST = 300
SHOWN = ("ndcg_10", "recall_1", "recall_5", "complete_10")


def load(
    folder: Path, name: str, most: int = MOST
) -> tuple[tuple[ToolSpec, ...], tuple[Query, ...]]:
    """The tools of a set and at most `most` of its queries."""
    tools = read_tools(folder / "data" / name / "tools.jsonl.gz")
    queries = read_queries(folder / "data" / name / "dev.jsonl.gz")
    return tools.rows, sample(queries.rows, most)


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
    print(f"{'set':14}{'tools':>6}{'queries':>8}  {'retriever':11}", end="")
    print("".join(f"{column:>12}" for column in (*SHOWN, "index s", "p50 us", "p95 us")))
    every: dict[str, list[Scores]] = {name: [] for name in options.retrievers}
    for set_name in options.sets:
        tools, queries = load(folder, set_name, options.most)
        for name in options.retrievers:
            one = evaluate(name, builtin(name)(), tools, queries)
            every[name].append(one.scores)
            head = f"{set_name:14}{len(tools):6}{len(queries):8}  {name:11}{_figures(one.scores)}"
            latency = f"{one.latency_us.p50:12.0f}{one.latency_us.p95:12.0f}"
            print(f"{head}{one.index_seconds:12.2f}{latency}", flush=True)
    for name, scores in every.items():
        print(f"{'mean':14}{'':14}  {name:11}{_figures(Scores.mean(scores))}")


def _figures(scores: Scores) -> str:
    return "".join(f"{100 * getattr(scores, column):12.2f}" for column in SHOWN)


if __name__ == "__main__":
    main()
