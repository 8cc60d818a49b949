"""How fast our search is, beside peers in the same run.

    python benchmarks/search_speed.py [--tools 100 1000 10000] [--words 1 4 12 40] [--engines ...]
    python benchmarks/search_speed.py --whole [--retrievers bm25 ...]

The first measures the engines below our ranker, on catalogues of any size that are recombined
from the words of real tools; the second whole searches over real tools, with real requests. Both
need the shared folder, found by DEFERRED_TOOLS_SHARED or beside the repository. Peers are
measured where they are installed: bm25s, numba, tantivy; fastmcp.

All times are processor time of the whole process, the median over many queries that the engines
answer by turns. Compare within a run only: they depend on the machine and on its other work.
"""

import argparse
import gc
import os
import random
import statistics
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

from support.engines import ENGINES, Changing, Engine, Search, Words
from support.recombined import Tool, queries, tools
from support.report import Goal, Measured, Row, Table, show
from support.whole_search import RETRIEVERS, measure_whole

SIZES = (100, 1_000, 10_000)
LARGE = 100_000
"""Tools from which on numpy is meant to be used."""
WORDS = (1, 4, 12, 40)
USUAL = 4
ALLOWED = (100, 10_000)
QUERIES = 200
ROUNDS = 3
BLOCK = 25
"""Queries that one engine answers before it is another's turn."""
TENTH = 10
GONE = 1_000
"""Tools removed one by one, at most."""
PURE, NUMPY, BM25S, NUMBA, TANTIVY = ENGINES
OURS = (PURE, NUMPY)


def measure(
    pool: Sequence[Tool], size: int, words: Sequence[int], names: Sequence[str], folder: Path
) -> Measured:
    """The engines of those names with `size` tools; `pool` holds a tenth more."""
    rows: dict[str, Row] = {}
    built: dict[str, Engine] = {}
    for name in names:
        build = ENGINES[name]
        try:
            build(pool[:100])  # imports and compiles
        except ImportError as error:
            rows[name] = {"engine": f"{name}: {error}"}
            continue
        gc.collect()
        started = time.process_time()
        built[name] = build(pool[:size])
        rows[name] = {"engine": name, "build ms": (time.process_time() - started) * 1e3}
    columns: dict[str, dict[str, float]] = {}
    searches = {name: engine.search for name, engine in built.items()}
    for length in words:
        columns[f"{length} words"] = medians(searches, queries(folder, length, QUERIES))
    usual = queries(folder, USUAL, QUERIES)
    dice = random.Random(3)  # noqa: S311  # nothing secret
    for count in ALLOWED:
        if count < size:
            numbers = dice.sample(range(size), count)
            within = {name: one.within(numbers) for name, one in built.items() if one.within}
            columns[f"{count} ids"] = medians(within, usual)
    for column, times in columns.items():
        for name, row in rows.items():
            row[f"{column} us"] = times.get(name, "")
    changed = [
        changes(name, one, pool, size, usual)
        for name, one in built.items()
        if isinstance(one, Changing)
    ]
    title = f"{size:,} tools, median processor time"
    tables = [
        Table(title, [{"engine": "", "build ms": "", **row} for row in rows.values()]),
        Table(f"{size:,} tools that change", changed),
    ]
    return Measured(tables, [*_goals(size, rows, columns), *_change_goals(size, changed)])


def medians(searches: Mapping[str, Search], asked: Sequence[Words]) -> dict[str, float]:
    """Microseconds that half of the queries took at most, by engine."""
    taken: dict[str, list[float]] = {name: [] for name in searches}
    for start in list(range(0, len(asked), BLOCK)) * ROUNDS:
        for name, search in searches.items():
            search(asked[start])  # what the others left in the processor's caches is not its fault
            for words in asked[start : start + BLOCK]:
                taken[name].append(_taken(partial(search, words)))
    return {name: statistics.median(times) for name, times in taken.items()}


def changes(
    name: str, engine: Engine, pool: Sequence[Tool], size: int, asked: Sequence[Words]
) -> Row:
    """What it costs to add and remove tools, and to search with a tenth of them added."""
    grown = ENGINES[name](pool[:size])
    assert isinstance(grown, Changing)  # noqa: S101
    adding = [
        _taken(partial(grown.add, number, pool[number]))
        for number in range(size, size + size // TENTH)
    ]
    both = medians({"built": engine.search, "grown": grown.search}, asked)
    gone = random.Random(5).sample(range(size), min(size // 2, GONE))  # noqa: S311
    removing = [_taken(partial(grown.remove, number)) for number in gone]
    return {
        "engine": name,
        "add us": statistics.median(adding),
        "remove us": statistics.median(removing),
        f"{USUAL} words us": both["built"],
        "with a tenth added us": both["grown"],
        "kB a tool": _memory(name, pool[:size]),
    }


def _taken(run: Callable[[], object]) -> float:
    before = time.process_time_ns()
    run()
    return (time.process_time_ns() - before) / 1e3


def _memory(name: str, catalogue: Sequence[Tool]) -> float:
    gc.collect()
    tracemalloc.start()
    kept = ENGINES[name](catalogue)
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del kept
    return held / len(catalogue) / 1e3


def _goals(
    size: int, rows: Mapping[str, Row], columns: Mapping[str, Mapping[str, float]]
) -> list[Goal]:
    """The ratios that are to be reached at this size, of the engines that there are."""
    usual = f"{USUAL} words"
    wanted: list[tuple[str, str, str, float]] = []
    if size < LARGE:
        wanted.append((usual, PURE, BM25S, 0.4 if size < SIZES[-1] else 0.12))
    else:
        wanted += [
            (usual, NUMPY, BM25S, 0.013),
            (usual, NUMPY, NUMBA, 1),
            (usual, NUMPY, TANTIVY, 1),
        ]
        wanted += [(f"{count} ids", NUMPY, TANTIVY, 0.04) for count in ALLOWED]
    goals = [
        Goal(
            f"{size:,} tools, {what}: {one} / {other}",
            columns[what][one] / columns[what][other],
            most,
            "x",
        )
        for what, one, other, most in wanted
        if {one, other} <= columns.get(what, {}).keys()
    ]
    build = "build ms"
    if size == SIZES[-1] and build in rows.get(BM25S, {}):
        goals += [
            Goal(
                f"{size:,} tools, build: {one} / {BM25S}",
                rows[one][build] / rows[BM25S][build],
                1.5,
                "x",
            )
            for one in OURS
            if build in rows.get(one, {})
        ]
    return goals


def _change_goals(size: int, changed: Sequence[Row]) -> list[Goal]:
    goals: list[Goal] = []
    for row in changed if size >= SIZES[-1] else ():
        name = f"{size:,} tools, {row['engine']}"
        slower = row["with a tenth added us"] / row[f"{USUAL} words us"]
        goals += [
            Goal(f"{name}: add one", row["add us"], 50, "us"),
            Goal(f"{name}: remove one", row["remove us"], 50, "us"),
            Goal(f"{name}: {USUAL} words with a tenth added", slower, 1.5, "x"),
            Goal(f"{name}: memory", row["kB a tool"], 0.3 if row["engine"] == NUMPY else 1.5, "kB"),
        ]
    return goals


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tools", nargs="+", type=int, default=SIZES)
    parser.add_argument("--words", nargs="+", type=int, default=WORDS)
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--whole", action="store_true", help="whole searches instead of engines")
    parser.add_argument("--retrievers", nargs="+", default=RETRIEVERS)
    options = parser.parse_args()
    default = Path(__file__).parents[2] / "shared"
    folder = Path(os.environ.get("DEFERRED_TOOLS_SHARED", default))
    if not (folder / "data").is_dir():
        parser.exit(1, "No shared data: set DEFERRED_TOOLS_SHARED to the folder that holds it.\n")
    if options.whole:
        show([measure_whole(folder, options.retrievers)], [])
        return
    largest = max(options.tools)
    pool = list(islice(tools(folder), largest + largest // TENTH))
    show(
        [measure(pool, size, options.words, options.engines, folder) for size in options.tools], []
    )


if __name__ == "__main__":
    main()
