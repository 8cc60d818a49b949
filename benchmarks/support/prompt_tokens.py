"""Tokens: the level-1 block at any size, our estimate of it, and what a turn sends in all."""

import json
import random
import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from langchain_core.utils.function_calling import convert_to_openai_tool
from support.definitions import Definition, take
from support.langchain_tools import json_tools
from support.ours import toolset
from support.queries import QUERIES
from support.report import Goal, Measured, Row, Table

from deferred_tools import Caller, Limits, Session, ToolSummary
from deferred_tools.prompt import estimate_tokens, render
from deferred_tools.search_request import DESCRIPTION, NAME, PARAMETERS
from langchain_deferred_tools import Conversation

Count = Callable[[str], int]
SIZES = (10, 100, 1_000, 5_549, 20_000)
PREFIXES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_549)
BUDGET = Limits().prompt_tokens
NO_BUDGET = 10**9


def measure(pool: Sequence[Definition], count: Count) -> Measured:
    """Blocks, estimates and the whole surface, all counted by `count`."""
    blocks = [_block(size, take(pool, size), count) for size in SIZES]
    known = [list(_summaries(take(pool, size))) for size in PREFIXES]
    surface = _surface(pool, count)
    whole = [
        _ratios("corpus prefixes, all lines whole", known, NO_BUDGET, count),
        _ratios("each server of the corpus, whole", _by_server(known[-1]), NO_BUDGET, count),
    ]
    fitted = [
        _ratios("corpus prefixes, in the budget", known, BUDGET, count),
        _ratios("each tool of the corpus, alone", [[tool] for tool in known[-1]], BUDGET, count),
        *(
            _ratios(f"made up: {kind}", [tools[:n] for n in PREFIXES], BUDGET, count)
            for kind, tools in _made_up().items()
        ),
    ]
    largest = max(row["largest block"] for row in fitted)
    goals = [
        Goal("level-1 block, any size", max(b["tokens"] for b in blocks), BUDGET + 1, "tokens"),
        Goal("level-1 block, any text", largest, BUDGET + 1, "tokens"),
        Goal("surface per turn, as given", 100 - surface[1]["cut %"], 1, "% of all schemas"),
        Goal(
            "surface per turn, as sent", 100 - surface[1]["cut % of these"], 1, "% of all schemas"
        ),
    ]
    tables = [
        Table("Level-1 block", blocks, f"Counted in o200k_base; the budget is {BUDGET:,}."),
        Table(
            "Our estimate against the real count",
            [*whole, *fitted],
            "A ratio below 1 is an estimate that is too low: the block may exceed the budget.",
        ),
        Table(
            "Tool surface per turn",
            surface,
            "OpenAI's form, compact. LangChain writes every $ref out, so one tool can become huge.",
        ),
    ]
    return Measured(tables, goals)


def _block(size: int, definitions: Sequence[Definition], count: Count) -> Row:
    with toolset(definitions) as tools:
        block = tools.prompt(Caller.root())
    real = count(block)
    return {
        "tools": size,
        "tokens": real,
        "our estimate": estimate_tokens(block),
        "tool lines": block.count("<tool "),
        "server lines": block.count("<server "),
    }


def _ratios(
    what: str, catalogues: Iterable[Sequence[ToolSummary]], budget: int, count: Count
) -> Row:
    blocks = [render(tools, budget=budget) for tools in catalogues]
    pairs = [(estimate_tokens(block), count(block)) for block in blocks]
    ratios = [estimate / real for estimate, real in pairs]
    return {
        "blocks of": what,
        "blocks": len(blocks),
        "smallest ratio": min(ratios),
        "largest ratio": max(ratios),
        "too low": sum(ratio < 1 for ratio in ratios),
        "largest block": max(real for _, real in pairs),
    }


def _surface(pool: Sequence[Definition], count: Count) -> list[Row]:
    """Each tool counted twice: as its server gave it, and as LangChain sends it."""

    def given(name: str, description: str, parameters: object) -> int:
        function = {"name": name, "description": description, "parameters": parameters}
        return count(_compact({"type": "function", "function": function}))

    def sent(tools: Iterable[Any]) -> int:
        return sum(count(_compact(convert_to_openai_tool(tool))) for tool in tools)

    everything = (
        sum(
            given(tool.name, tool.description, one.raw.get("inputSchema"))
            for tool, one in zip(json_tools(pool), pool, strict=True)
        ),
        sent(json_tools(pool)),
    )
    root = Session(caller=Caller.root())
    with toolset(pool) as tools:
        fixed = count(tools.prompt(root.caller)) + given(NAME, DESCRIPTION, PARAMETERS)
        sessions = [tools.search(root, {"query": query}).session for query in QUERIES]
        specs = [[entry.spec for entry in tools.bound(session)] for session in sessions]
        ours = [
            (
                fixed + sum(given(s.name, s.description, s.parameters) for s in found),
                fixed + sent(Conversation(tools, session=session).bound()[1:]),
            )
            for session, found in zip(sessions, specs, strict=True)
        ]
    mean = (statistics.mean(one for one, _ in ours), statistics.mean(two for _, two in ours))
    most = (max(one for one, _ in ours), max(two for _, two in ours))
    kinds = {
        f"all {len(pool):,} schemas": everything,
        "ours: block, tool_search, tools of one search": mean,
        f"  the most of {len(QUERIES)} searches": most,
    }
    return [
        {
            "bound": what,
            "tokens as given": round(as_given),
            "cut %": 100 - 100 * as_given / everything[0],
            "tokens as LangChain sends": round(as_sent),
            "cut % of these": 100 - 100 * as_sent / everything[1],
        }
        for what, (as_given, as_sent) in kinds.items()
    ]


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _summaries(definitions: Sequence[Definition]) -> Iterable[ToolSummary]:
    with toolset(definitions) as tools:
        return tools.catalog(Caller.root()).all()


def _by_server(tools: Iterable[ToolSummary]) -> Iterable[list[ToolSummary]]:
    servers: dict[str, list[ToolSummary]] = {}
    for tool in tools:
        servers.setdefault(tool.source, []).append(tool)
    return servers.values()


def _made_up(count: int = 400) -> dict[str, list[ToolSummary]]:
    """Catalogues that are hard to estimate: short names, foreign scripts, noise."""
    dice = random.Random(0)  # noqa: S311  # nothing secret

    def noise(first: int, last: int) -> Callable[[], str]:
        return lambda: "".join(chr(dice.randint(first, last)) for _ in range(200))

    texts: dict[str, Callable[[], str]] = {
        "numbered short names": lambda: "",
        "Chinese prose": lambda: "在指定的代码仓库中创建一个新的问题并返回其编号。" * 8,
        "emoji": noise(0x1F300, 0x1FAF0),
        "hieroglyphs": noise(0x13000, 0x1342E),
        "accented letters at random": noise(0x100, 0x24F),
        "ASCII at random": noise(0x21, 0x7E),
    }
    return {
        kind: [ToolSummary(f"s__t{at}", make(), "s") for at in range(count)]
        for kind, make in texts.items()
    }
