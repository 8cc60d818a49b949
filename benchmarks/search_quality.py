"""How well searches find tools: ours and peers, side by side, over the dev halves of public sets.

    python benchmarks/search_quality.py [--sets SET ...] [--retrievers NAME ...] [--most 300]
    python benchmarks/search_quality.py --typos

Needs the shared folder, found by DEFERRED_TOOLS_SHARED or beside the repository. Of a large set
`--most` queries are taken, by the hash of their ids: the same ones for every retriever. Quality
is exact, in percent; times are processor time of this machine, good for comparing rows. Peers are
measured where they are installed. `--typos` says instead what one slip of the fingers per query
costs. For tools and queries of your own there is `deferred-tools eval`.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean

from support.quality_peers import PEERS, versions
from support.quality_sets import MOST, SETS, SHORT, Set, load
from support.quality_typos import mistyped

from deferred_tools.errors import ConfigurationError
from deferred_tools.evaluation.run import Evaluation, evaluate
from deferred_tools.retrievers.base import Retriever
from deferred_tools.retrievers.builtin import builtin

OURS = ("bm25", "words", "hybrid", "embeddings", "keyword", "substring")
ASKED, MISTYPED = "as asked", "with a typo"

Column = Callable[[Evaluation], float]

SHOWN: Mapping[str, Column] = {
    "nDCG@10": lambda one: 100 * one.scores.ndcg_10,
    "recall@1": lambda one: 100 * one.scores.recall_1,
    "recall@5": lambda one: 100 * one.scores.recall_5,
    "complete@10": lambda one: 100 * one.scores.complete_10,
    "hit@1": lambda one: 100 * one.scores.hit_1,
    "search p50, ms": lambda one: one.latency_us.p50 / 1_000,
}


def factory(name: str) -> Callable[[], Retriever]:
    """What makes a new retriever, ours or a peer. Ours wait for their model.

    Raises:
        ConfigurationError: There is none of that name, or its extra is not installed.
    """
    return PEERS[name] if name in PEERS else builtin(name, index_seconds=None)


def main() -> None:
    """Measure and print."""
    options = _options()
    default = Path(__file__).parents[2] / "shared"
    folder = Path(os.environ.get("DEFERRED_TOOLS_SHARED", default))
    if not (folder / "data").is_dir():
        sys.exit("No shared data: set DEFERRED_TOOLS_SHARED to the folder that holds it.")
    if options.typos:
        tools, queries = load(folder, SHORT, options.most)
        sets = {ASKED: (tools, queries), MISTYPED: (tools, mistyped(queries))}
    else:
        sets = {name: load(folder, name, options.most) for name in options.sets}
    for name, (tools, queries) in sets.items():
        print(f"{name}: {len(tools):,} tools, {len(queries):,} queries")
    print(", ".join(f"{name} {version}" for name, version in versions().items()))
    rows = {name: found for name in options.retrievers if (found := _measured(name, sets))}
    if options.typos:
        _show("nDCG@10", {name: _typos(*found) for name, found in rows.items()})
    else:
        for title, column in SHOWN.items():
            _show(title, {name: _by_set(column, found, sets) for name, found in rows.items()})
    if options.json:
        told = {"most": options.most, "versions": versions(), "measured": _plain(rows, sets)}
        options.json.write_text(json.dumps(told, indent=2), encoding="utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=SETS, help="of these, or pool: all in one")
    parser.add_argument("--retrievers", nargs="+", default=(*OURS, *PEERS))
    parser.add_argument("--most", type=int, default=MOST, help="queries of each set")
    parser.add_argument("--typos", action="store_true", help=f"what typos cost on {SHORT}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all there is here too")
    return parser.parse_args()


def _measured(name: str, sets: Mapping[str, Set]) -> list[Evaluation]:
    """One evaluation for each set; none of a retriever that cannot be had."""
    print(f"measuring {name}", file=sys.stderr)
    try:
        make = factory(name)
        return [evaluate(name, make(), *one) for one in sets.values()]
    except (ConfigurationError, ImportError) as error:
        print(f"{name} is left out: {error}")
        return []


def _by_set(
    column: Column, found: Sequence[Evaluation], sets: Mapping[str, Set]
) -> dict[str, float]:
    values = [column(one) for one in found]
    return {**dict(zip(sets, values, strict=True)), "mean": fmean(values)}


def _typos(asked: Evaluation, mistyped: Evaluation) -> dict[str, float]:
    column = SHOWN["nDCG@10"]
    return {
        ASKED: column(asked),
        MISTYPED: column(mistyped),
        "loss": column(asked) - column(mistyped),
    }


def _show(title: str, rows: Mapping[str, Mapping[str, float]]) -> None:
    """A table in Markdown."""
    columns = next(iter(rows.values()), {})
    print(f"\n| {title} | {' | '.join(columns)} |\n|---|{'---:|' * len(columns)}")
    for name, values in rows.items():
        print(f"| {name} | {' | '.join(f'{value:.1f}' for value in values.values())} |")


def _plain(
    rows: Mapping[str, Sequence[Evaluation]], sets: Mapping[str, Set]
) -> list[dict[str, object]]:
    return [
        {"set": name, "tools": len(tools), **asdict(one)}
        for found in rows.values()
        for (name, (tools, _)), one in zip(sets.items(), found, strict=True)
    ]


if __name__ == "__main__":
    main()
