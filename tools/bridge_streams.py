"""Random streams of tool calls: `python tools/bridge_streams.py --streams 100000 --seed 7`.

Ends with 1 if any call came out wrong. The tests use the same generator on fewer streams.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))

from deferred_tools.bridge import DIALECTS, Complete
from tests.support.streams import assemble, fault, random_stream

SHOWN = 5
"""Faults that are printed whole, of each kind."""


def run(streams: int, seed: int) -> int:
    """Assemble so many streams, say what became of them; how many went wrong."""
    random = Random(seed)  # noqa: S311  # streams, not secrets
    sent, exact, refused = Counter[str](), Counter[str](), Counter[str]()
    faults = Counter[tuple[str, str]]()
    dialects = sorted(DIALECTS)
    for number in range(streams):
        dialect = dialects[number % len(dialects)]
        stream = random_stream(random, dialect)
        outcomes = assemble(stream)
        complete = sum(isinstance(outcome, Complete) for outcome in outcomes)
        sent[dialect] += len(stream.sent)
        exact[dialect] += complete
        refused[dialect] += len(outcomes) - complete
        problem = fault(stream, outcomes)
        if problem is not None:
            faults[dialect, problem] += 1
            if faults[dialect, problem] <= SHOWN:
                sys.stdout.write(f"{problem}: {stream}\n    {outcomes}\n")
    sys.stdout.write(f"{'dialect':<18}{'sent':>8}{'exact':>8}{'invalid':>8}{'wrong':>8}\n")
    for dialect in dialects:
        wrong = sum(count for (name, _), count in faults.items() if name == dialect)
        row = (sent[dialect], exact[dialect], refused[dialect], wrong)
        sys.stdout.write(f"{dialect:<18}" + "".join(f"{value:>8}" for value in row) + "\n")
    sys.stdout.write(
        f"{streams} streams, {sent.total()} calls, a third of the streams cut: "
        f"{exact.total()} exact, {refused.total()} invalid, {faults.total()} streams wrong\n"
    )
    return faults.total()


def main() -> int:
    """Read the arguments; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--streams", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args()
    return 1 if run(asked.streams, asked.seed) else 0


if __name__ == "__main__":
    sys.exit(main())
