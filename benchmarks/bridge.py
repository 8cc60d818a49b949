# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "deferred-tools",
#     "hypothesis>=6.100",
#     "langchain-core>=1.0,<2",
#     "pydantic-ai-slim>=2",
#     "rich>=13.7",
# ]
#
# [tool.uv.sources]
# deferred-tools = { path = "../packages/core", editable = true }
# ///
"""Streamed tool calls: are they right, and how fast are they put together? Beside peers.

    uv run benchmarks/bridge.py [--streams 5000] [--seed 7] [--megabytes 1 2 4] [--json]

The streams are those of `tests/support/streams.py`, which knows what the model meant: of each call
that was sent, a third of the streams being cut, a peer has it exactly, says that it is invalid, or
has nothing of it; and it may have calls that were never sent. langchain-core and pydantic-ai are
measured where they are installed. Times are processor time of one run; compare within it only.
"""

import argparse
import importlib
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from support.assemblers import Assemble, langchain_core, ours, pydantic_ai
from support.report import Goal, Measured, Row, Table, as_json, show

from deferred_tools.bridge import DIALECTS, Fragment

PIECE = 10
"""Bytes of arguments in one fragment."""
PAIRWISE_BYTES = 20_000
"""What langchain-core can add up chunk by chunk in seconds: it reads all anew each time."""
OURS = "ours"
WHAT = ("exact", "invalid", "wrong", "lost")
"""What may become of a call."""
LINEAR = 1.5
"""How much longer a byte may take in the largest arguments than in the smallest."""


def measure_correctness(
    peers: dict[str, Assemble], random_stream: Callable[..., Any], streams: int, seed: int
) -> Table:
    """What each peer makes of the same streams, by dialect."""
    random = Random(seed)  # noqa: S311  # streams, not secrets
    counts: dict[tuple[str, str], Counter[str]] = {}
    for number in range(streams):
        dialect = sorted(DIALECTS)[number % len(DIALECTS)]
        stream = random_stream(random, dialect)
        meant = Counter(_key(call.name, call.arguments) for call in stream.sent)
        for peer, assemble in peers.items():
            count = counts.setdefault((dialect, peer), Counter())
            count["sent"] += len(stream.sent)
            try:
                found = assemble(dialect, stream.fragments, stream.reason)
            except Exception:  # noqa: BLE001  # a peer that raises has said that it is invalid
                count["invalid"] += len(stream.sent)
                continue
            complete = Counter(_key(name, arguments) for name, arguments in found.calls)
            exact = (complete & meant).total()
            invalid = min(found.invalid, len(stream.sent) - exact)
            count["exact"] += exact
            count["invalid"] += invalid
            count["wrong"] += complete.total() - exact
            count["lost"] += max(0, len(stream.sent) - complete.total() - invalid)
    rows = [
        {"dialect": dialect, "assembly": peer}
        | {f"{what} %": 100 * count[what] / count["sent"] for what in WHAT}
        for (dialect, peer), count in sorted(counts.items())
    ]
    note = "wrong: would be run, and was not sent so; lost: nothing of its own came out"
    return Table(f"{streams} streams, a third of them cut: shares of the calls sent", rows, note)


def measure_speed(peers: dict[str, Assemble], megabytes: Sequence[int]) -> Measured:
    """How long one call with large arguments takes; peers only with the first size.

    Times of langchain-core grow with the square of it.
    """
    rows: list[Row] = []
    for size in megabytes:
        fragments = large_call(size * 1_000_000)
        mine = seconds(peers[OURS], fragments)
        row: Row = {"MB": size, "fragments": len(fragments), "ours, MB/s": size / mine}
        row["ours, s"] = mine
        for name in sorted(peers.keys() - {OURS}):
            row[f"{name}, s"] = "-" if rows else seconds(peers[name], fragments)
        rows.append(row)
    first, last = rows[0], rows[-1]
    growth = first["ours, MB/s"] / last["ours, MB/s"]
    goals = [Goal(f"time a byte, {last['MB']} MB by {first['MB']} MB", growth, LINEAR, "x")]
    goals += [
        Goal(f"{first['MB']} MB, ours by {name}", first["ours, s"] / first[f"{name}, s"], 1, "x")
        for name in peers
        if name != OURS
    ]
    title = f"one call, its arguments in fragments of {PIECE} bytes"
    return Measured([Table(title, rows)], goals)


def measure_adding(ours_: Assemble, each: Assemble) -> Table:
    """The same where a program adds up each chunk as it comes."""
    fragments = large_call(PAIRWISE_BYTES)
    mine, theirs = seconds(ours_, fragments), seconds(each, fragments)
    return Table(
        f"{PAIRWISE_BYTES // 1000} kB, each chunk added up as it comes",
        [{"ours, s": mine, "langchain-core, s": theirs, "ratio": theirs / mine}],
        "langchain-core reads all arguments anew with each chunk: larger ones take too long here",
    )


def large_call(size: int) -> list[Fragment]:
    """One call with arguments of `size` bytes."""
    record = json.dumps({"path": 'C:\\temp\\"x"', "lines": [1, 2.5, None, True], "t": "y" * 40})
    text = '{"records": [' + ", ".join([record] * (size // (len(record) + 2))) + "]}"
    pieces = [text[at : at + PIECE] for at in range(0, len(text), PIECE)]
    head = Fragment(index=0, id="call_1", name="need_one", arguments="")
    return [head, *(Fragment(index=0, arguments=piece) for piece in pieces)]


def seconds(assemble: Assemble, fragments: Sequence[Fragment]) -> float:
    """Processor time of putting one call together."""
    started = time.process_time()
    found = assemble("openai_chat", fragments, "tool_calls")
    taken = time.process_time() - started
    if len(found.calls) != 1:
        raise RuntimeError(f"{found.invalid} calls came out invalid")
    return taken


def installed(name: str, make: Callable[[], Assemble], remarks: list[str]) -> dict[str, Assemble]:
    """The peer, if it is there; else a remark."""
    try:
        return {name: make()}
    except ImportError as error:
        remarks.append(f"{name} is not measured: {error}")
        return {}


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--streams", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--megabytes", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--json", action="store_true", help="for programs")
    asked = parser.parse_args()
    sys.path.insert(0, str(Path(__file__).parents[1]))
    generator = importlib.import_module("tests.support.streams")
    remarks: list[str] = []
    mine = ours(generator.may_be_empty)
    each = installed("langchain-core", partial(langchain_core, at_once=False), remarks)
    at_end = installed("langchain-core at once", partial(langchain_core, at_once=True), [])
    other = installed("pydantic-ai", pydantic_ai, remarks)
    right = measure_correctness(
        {OURS: mine} | each | other, generator.random_stream, asked.streams, asked.seed
    )
    found = [
        Measured([right]),
        measure_speed({OURS: mine} | at_end | other, asked.megabytes),
        *(Measured([measure_adding(mine, it)]) for it in each.values()),
    ]
    if asked.json:
        sys.stdout.write(as_json(found, remarks) + "\n")
    else:
        show(found, remarks)
    return 0


def _key(name: str, arguments: object) -> str:
    return name + json.dumps(arguments, sort_keys=True)


if __name__ == "__main__":
    sys.exit(main())
