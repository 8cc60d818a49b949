"""What the first use costs: reading the tools, naming them, indexing them, listing them."""

import gc
from collections.abc import Callable, Sequence

import anyio

from deferred_tools import Caller, Registry, Toolset
from deferred_tools.prompt import render
from deferred_tools.registry import SourceView
from support.clock import Timing, repeat, timed
from support.definitions import Definition, take
from support.langchain_tools import function_tools
from support.ours import MemoryServer, servers, toolset
from support.report import Measured, Row, Table

SIZES = (1_000, 5_549)


def measure(pool: Sequence[Definition], *, repeats: int) -> Measured:
    """The whole, and its parts one by one, at `SIZES`."""
    rows: list[Row] = []
    for size in SIZES:
        definitions = take(pool, size)
        whole = repeat(_first_use, repeats, given=lambda d=definitions: toolset(d))
        rows.append(_row(size, "the whole: open, and the first block", whole))
        rows += [
            _row(size, f"  {name}", Timing.of([_alone(part) for _ in range(repeats)]))
            for name, part in _parts(definitions).items()
        ]
    functions = repeat(
        _first_use,
        repeats,
        given=lambda: Toolset.from_sources(function_tools(take(pool, SIZES[0]))),
    )
    rows.append(_row(SIZES[0], "the whole, for @tool functions", functions))
    note = "Once per process. Servers answer from memory: connecting to real ones comes on top."
    return Measured([Table("The first use", rows, note)])


def _first_use(tools: Toolset) -> object:
    tools.open().prompt(Caller.root())
    return tools


def _parts(definitions: Sequence[Definition]) -> dict[str, Callable[[], object]]:
    opened = toolset(definitions).open()
    world = opened.world
    views = tuple(world.registry.sources.values())
    sources = servers(definitions)
    limits = opened.limits

    def block() -> object:
        shown = [spec.summary(limits) for spec in world.registry.specs]
        return render(shown, budget=limits.prompt_tokens)

    return {
        "reading lists, checking schemas": lambda: anyio.run(_read, sources),
        "names and registry": lambda: _named(views),
        "search index": lambda: world.retriever.index(world.registry.specs),
        "level-1 block": block,
    }


async def _read(sources: Sequence[MemoryServer]) -> object:
    return [await source.state() for source in sources]


def _named(views: Sequence[SourceView]) -> Registry:
    return Registry.build(views)


def _alone(part: Callable[[], object]) -> object:
    gc.collect()
    return timed(part)


def _row(size: int, what: str, timing: Timing) -> Row:
    return {
        "tools": size,
        "what": what,
        "median ms": timing.median,
        "least ms": timing.least,
        "cpu ms": timing.cpu,
    }
