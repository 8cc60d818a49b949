"""What the first use costs: reading the tools, naming them, indexing them, listing them."""

from collections.abc import Callable, Sequence
from functools import partial

import anyio
from support.clock import Timing, repeat, timed
from support.definitions import Definition, take
from support.langchain_tools import FUNCTIONS, function_tools
from support.ours import MemoryServer, servers, toolset
from support.report import Measured, Row, Table

from deferred_tools import Caller, Registry, Settings, Toolset
from deferred_tools.prompt import render
from deferred_tools.retrievers.builtin import builtin
from deferred_tools.summaries import summaries

SIZES = (1_000, 5_549)


def measure(pool: Sequence[Definition], *, repeats: int) -> Measured:
    """The whole, and its parts one by one, at `SIZES`."""
    rows: list[Row] = []
    for size in SIZES:
        definitions = take(pool, size)
        whole = repeat(_first_use, repeats, given=partial(toolset, definitions))
        rows.append(_row(size, "MCP tools: open, and the first block", whole))
        rows += [
            _row(size, f"  {name}", Timing.of([timed(part) for _ in range(repeats)]))
            for name, part in _parts(definitions).items()
        ]
    few = take(pool, SIZES[0])
    functions = repeat(_first_use, repeats, given=lambda: Toolset.from_sources(function_tools(few)))
    rows.append(_row(SIZES[0], f"{FUNCTIONS}: open, and the first block", functions))
    note = (
        "Once per process, and one more index for each other set of tools that a caller sees. "
        "Servers answer from memory: connecting to real ones comes on top."
    )
    return Measured([Table("The first use", rows, note)])


def _first_use(tools: Toolset) -> object:
    tools.open().prompt(Caller.root())
    return tools


def _parts(definitions: Sequence[Definition]) -> dict[str, Callable[[], object]]:
    sources = servers(definitions)
    with toolset(definitions) as opened:
        registry, limits = opened.registry, opened.limits
    specs = registry.specs

    def block() -> object:
        return render(summaries(specs, limits), budget=limits.prompt_tokens)

    return {
        "reading lists, checking schemas": lambda: anyio.run(_read, sources),
        "names and registry": lambda: Registry.build(Settings(), tuple(registry.sources.values())),
        "search index": lambda: builtin("bm25")().index(specs),
        "search index for a caller who sees half": lambda: builtin("bm25")().index(specs[::2]),
        "level-1 block": block,
    }


async def _read(sources: Sequence[MemoryServer]) -> object:
    return [await source.state() for source in sources]


def _row(size: int, what: str, timing: Timing) -> Row:
    return {
        "what": what,
        "tools": size,
        "median ms": timing.median,
        "least ms": timing.least,
        "cpu ms": timing.cpu,
    }
