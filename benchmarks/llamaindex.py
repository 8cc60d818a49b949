# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "bpe-openai>=0.1.4",
#     "deferred-tools[mcp]",
#     "llama-index-tools-deferred",
#     "pydantic<2.14",
#     "rich>=13.7",
# ]
#
# [tool.uv.sources]
# deferred-tools = { path = "../packages/core", editable = true }
# llama-index-tools-deferred = { path = "../packages/llamaindex_adapter", editable = true }
# ///
"""What deferred tools cost in LlamaIndex: time and tokens, beside its own ObjectIndex.

    python benchmarks/llamaindex.py [--json] [--only PART ...]

Runs in the development environment; tokens are counted where `bpe-openai` is installed as well
(`uv run benchmarks/llamaindex.py` makes an environment with everything). Real tool definitions
come from the shared folder, found by DEFERRED_TOOLS_SHARED or beside the repository.
"""

import argparse
from collections.abc import Sequence

from support import llama_construct, llama_importing, llama_step, llama_surface
from support.command import Parts, counted, measure
from support.definitions import Definition

PARTS = ("import", "construct", "step", "tokens")


def main() -> None:
    """Measure the parts asked for and print them."""
    options = _options()
    measure(options, lambda pool, remarks: _parts(pool, options, remarks))


def _parts(pool: Sequence[Definition], options: argparse.Namespace, remarks: list[str]) -> Parts:
    return {
        "import": lambda: llama_importing.measure(repeats=options.starts),
        "construct": lambda: llama_construct.measure(pool, repeats=options.repeats),
        "step": lambda: llama_step.measure(pool, runs=options.runs),
        "tokens": lambda: counted(remarks, lambda count: llama_surface.measure(pool, count)),
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="What deferred tools cost in LlamaIndex.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="some parts only")
    parser.add_argument("--runs", type=int, default=20, help="runs of each agent, of ten steps")
    parser.add_argument("--repeats", type=int, default=3, help="times that something slow is done")
    parser.add_argument("--starts", type=int, default=7, help="processes per import")
    return parser.parse_args()


if __name__ == "__main__":
    main()
