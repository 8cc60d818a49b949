# /// script
# requires-python = ">=3.11"
# dependencies = [
#     "bpe-openai>=0.1.4",
#     "deferred-tools[mcp]",
#     "langchain>=1.2.11,<2",
#     "langchain-deferred-tools[agents]",
#     "rich>=13.7",
# ]
#
# [tool.uv.sources]
# deferred-tools = { path = "../packages/core", editable = true }
# langchain-deferred-tools = { path = "../packages/langchain_adapter", editable = true }
# ///
"""What deferred tools cost: time, tokens and memory, against peers measured in the same run.

    python benchmarks/overhead.py [--json] [--only PART ...] [--bigtool]

Runs in the development environment; tokens are counted where `bpe-openai` is installed as well
(`uv run benchmarks/overhead.py` makes an environment with everything). Real tool definitions
come from the shared folder, found by DEFERRED_TOOLS_SHARED or beside the repository.
"""

import argparse
from collections.abc import Sequence

from support import construct, first_use, importing, memory, prompt_tokens, turn
from support.command import Parts, counted, measure
from support.definitions import Definition, take

PARTS = ("import", "construct", "first-use", "turn", "tokens", "memory")
CONSTRUCTED = 1_000


def main() -> None:
    """Measure the parts asked for and print them."""
    options = _options()
    measure(options, lambda pool, remarks: _parts(pool, options, remarks))


def _parts(pool: Sequence[Definition], options: argparse.Namespace, remarks: list[str]) -> Parts:
    return {
        "import": lambda: importing.measure(repeats=options.starts),
        "construct": lambda: construct.measure(
            take(pool, CONSTRUCTED), repeats=options.repeats, bigtool=options.bigtool
        ),
        "first-use": lambda: first_use.measure(pool, repeats=options.repeats),
        "turn": lambda: turn.measure(pool, turns=options.turns),
        "tokens": lambda: counted(remarks, lambda count: prompt_tokens.measure(pool, count)),
        "memory": memory.measure,
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="What deferred tools cost.")
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="some parts only")
    parser.add_argument("--turns", type=int, default=60, help="turns of each agent")
    parser.add_argument("--repeats", type=int, default=5, help="times that something slow is done")
    parser.add_argument("--starts", type=int, default=15, help="processes per import")
    parser.add_argument(
        "--bigtool",
        action="store_true",
        help="langgraph-bigtool too, in an environment made for it (needs the package index)",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
