"""What a benchmark's command does: measures the parts asked for, and prints them."""

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from support.definitions import Definition, corpus, generated
from support.report import Measured, as_json, show
from support.tokens import counter

Parts = Mapping[str, Callable[[], Measured]]


def measure(
    options: argparse.Namespace, parts_of: Callable[[Sequence[Definition], list[str]], Parts]
) -> None:
    """Measure the parts that `options.only` names, of real tools where there are some.

    `parts_of` gives them all, of some tools, and may add remarks to a list while it measures.
    """
    pool = corpus()
    remarks = [
        f"Load of the machine at the start: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores."
    ]
    if not pool:
        pool = generated()
        remarks.append("No shared folder (DEFERRED_TOOLS_SHARED): tools are made up, not real.")
    parts = parts_of(pool, remarks)
    found = [part() for name, part in parts.items() if name in options.only]
    if options.json:
        print(as_json(found, remarks))
    else:
        show(found, remarks)


def counted(remarks: list[str], part: Callable[[Any], Measured]) -> Measured:
    """What `part` measures with a real tokenizer; nothing, and a remark, where there is none."""
    count = counter()
    if count is None:
        remarks.append("Tokens were not counted: install bpe-openai, or use `uv run`.")
        return Measured(())
    return part(count)
