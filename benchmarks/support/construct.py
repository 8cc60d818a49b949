"""Building an agent with many tools, none of them used yet."""

from collections.abc import Callable, Sequence

from langchain.agents import create_agent
from langchain.agents.middleware import ProviderToolSearchMiddleware
from langchain_core.tools import BaseTool
from support.bigtool import peer
from support.clock import Timing, repeat
from support.definitions import Definition
from support.langchain_tools import FUNCTIONS, JSON, NoOpModel, function_tools, json_tools
from support.ours import servers
from support.report import Goal, Measured, Row, Table

from deferred_tools import Toolset
from langchain_deferred_tools.middleware import DeferredToolsMiddleware

MODEL = NoOpModel()


def measure(definitions: Sequence[Definition], *, repeats: int, bigtool: bool) -> Measured:
    """Ours against create_agent, LangChain's own middleware and langgraph-bigtool."""
    others = "langgraph-bigtool is left out: --bigtool makes the environment that it needs"
    peers: dict[str, Timing] = {}
    if bigtool:
        peers, others = peer(len(definitions), repeats)
    rows: list[Row] = []
    goals: list[Goal] = []
    made: dict[str, Callable[[], list[BaseTool]]] = {
        JSON: lambda: json_tools(definitions),
        FUNCTIONS: lambda: function_tools(definitions),
    }
    toolsets: dict[str, Callable[[], Toolset]] = {
        JSON: lambda: Toolset(servers(definitions)),
        FUNCTIONS: lambda: Toolset.from_sources(function_tools(definitions)),
    }
    for kind in (JSON, FUNCTIONS):
        plain = repeat(_plain, repeats, given=made[kind])
        ours = repeat(_ours, repeats, given=toolsets[kind])
        opened = repeat(_opened, repeats, given=toolsets[kind])
        provider = repeat(_provider, repeats, given=made[kind])
        rows += [
            _row(f"{kind}: ours", ours, plain),
            _row(f"{kind}: ours, opened as well", opened, plain),
            _row(f"{kind}: create_agent(tools=all)", plain, plain),
            _row(f"{kind}: ProviderToolSearchMiddleware", provider, plain),
        ]
        if kind in peers:
            rows.append(_row(f"{kind}: langgraph-bigtool", peers[kind], plain))
        name = f"construct with {len(definitions):,} {kind}"
        goals.append(Goal(name, ours.median, 100, "ms", cpu=ours.cpu))
    note = f"Tools are made before the clock starts, anew for each run. {others}."
    title = f"Constructing an agent with {len(definitions):,} tools"
    return Measured([Table(title, rows, note)], goals)


def _ours(toolset: Toolset) -> object:
    return create_agent(MODEL, middleware=[DeferredToolsMiddleware(toolset)])


def _opened(toolset: Toolset) -> object:
    return _ours(toolset.open())


def _plain(tools: list[BaseTool]) -> object:
    return create_agent(MODEL, tools=tools)


def _provider(tools: list[BaseTool]) -> object:
    middleware = ProviderToolSearchMiddleware(searchable_tools=[*tools])
    return create_agent(MODEL, tools=tools, middleware=[middleware])


def _row(what: str, timing: Timing, plain: Timing) -> Row:
    return {
        "agent": what,
        "median ms": timing.median,
        "least ms": timing.least,
        "cpu ms": timing.cpu,
        "of create_agent": timing.median / plain.median,
    }
