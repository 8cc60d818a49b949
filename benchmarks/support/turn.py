"""What a turn costs beyond the same agent without us: two calls of the model, one of a tool."""

import asyncio
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import HumanMessage, ToolCall
from langchain_core.tools import BaseTool
from langgraph.checkpoint.memory import InMemorySaver

from deferred_tools import Policy, Toolset, ToolSpec
from langchain_deferred_tools.middleware import DeferredToolsMiddleware
from support.clock import Sample, Timing, timed
from support.definitions import Definition, take
from support.langchain_tools import ANSWER, NoOpModel, json_tool, json_tools
from support.ours import AskedEveryTime, toolset
from support.parts import parts
from support.report import Goal, Measured, Row, Table

SIZES = {0: 5.0, 1_000: 5.0, 5_549: 15.0}
"""Tools, and the milliseconds that a turn may cost more for them."""
ENABLED = 5


@dataclass(frozen=True)
class Setting:
    """One agent to measure."""

    size: int
    policy: Policy | None
    mode: str

    @property
    def asked(self) -> str:
        """The policy in words."""
        return "asked every time" if self.policy else "default"


def measure(pool: Sequence[Definition], *, turns: int) -> Measured:
    """Whole turns, their parts, and what binding every tool in each call would cost."""
    rows: list[Row] = []
    pieces: list[Row] = []
    goals: list[Goal] = []
    policies: tuple[Policy | None, ...] = (None, AskedEveryTime())
    for size, most in SIZES.items():
        for policy in policies:
            tools = toolset(take(pool, size), policy).open()
            for mode in ("invoke", "ainvoke"):
                setting = Setting(size, policy, mode)
                added = _added(tools, setting, turns, rows)
                name = f"added per turn, {size:,} tools, policy {setting.asked}, {mode}"
                goals.append(Goal(name, added, most, "ms"))
            pieces += [
                {"tools": size, "policy": setting.asked, **piece}
                for piece in parts(tools, [spec.name for spec in _enabled(tools)], turns)
            ]
            tools.close()
    note = (
        "A turn: the model calls an enabled tool, reads its answer and ends. Both agents have the "
        f"same {ENABLED} tools bound, took turns in one process, and keep state in memory. Added: "
        "of each pair of turns."
    )
    each = "Two of block and of bound tools, and one of the gate, make a turn; a search adds one."
    return Measured(
        [
            Table("Added per turn", rows, note),
            Table("Parts of a turn", pieces, each),
            Table(
                "Binding every tool, once per model call",
                [_binding(pool, size) for size in SIZES if size],
                "LangChain's own conversion of the tools to the provider's form.",
            ),
        ],
        goals,
    )


def _added(tools: Toolset, setting: Setting, turns: int, rows: list[Row]) -> float:
    """Median milliseconds that ours adds; the row goes to `rows`."""
    enabled = _enabled(tools)
    base = json_tool("ping", "Answer.", {})
    same = [json_tool(s.name, s.description, s.parameters) for s in enabled]
    target = _call(enabled[0].name if enabled else "ping")
    search = _call("tool_search", names=[spec.name for spec in enabled])
    with asyncio.Runner() as runner:
        ours = _turn(
            [base], [DeferredToolsMiddleware(tools)], search, target, setting.mode, runner
        )
        plain = _turn([base, *same], [], _call("ping"), target, setting.mode, runner)
        pairs = [(timed(plain), timed(ours)) for _ in range(turns)]
    added = Timing.of([Sample(o.wall - p.wall, o.cpu - p.cpu) for p, o in pairs])
    rows.append(
        {
            "tools": setting.size,
            "policy": setting.asked,
            "mode": setting.mode,
            "plain ms": Timing.of([plain for plain, _ in pairs]).median,
            "ours ms": Timing.of([ours for _, ours in pairs]).median,
            "added ms": added.median,
            "added p90": added.p90,
            "added cpu": added.cpu,
        }
    )
    return added.median


def _turn(
    tools: Sequence[BaseTool],
    middleware: Sequence[AgentMiddleware[Any, Any, Any]],
    first: ToolCall,
    then: ToolCall,
    mode: str,
    runner: asyncio.Runner,
) -> Callable[[], object]:
    """A turn that can be run again and again, each time from where the first one ended."""
    model = NoOpModel(calls={"prepare": first, "go": then})
    agent = create_agent(
        model, tools=tools, middleware=middleware, checkpointer=InMemorySaver()
    )
    config: Any = {"configurable": {"thread_id": "1"}}
    agent.invoke({"messages": [HumanMessage("prepare")]}, config)
    start = agent.get_state(config).config
    said: Any = {"messages": [HumanMessage("go")]}

    def run() -> Any:
        if mode == "invoke":
            return agent.invoke(said, start)
        return runner.run(agent.ainvoke(said, start))

    answer = run()["messages"][-2]
    if answer.content != ANSWER:
        raise RuntimeError(f"the turn did not run its tool: {answer.content}")
    return run


def _enabled(tools: Toolset) -> list[ToolSpec]:
    """A few tools that may be called without arguments, spread over the catalogue."""
    simple = [spec for spec in tools.registry.specs if not spec.parameters.get("required")]
    return simple[:: max(1, len(simple) // ENABLED)][:ENABLED]


def _call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name=name, args=arguments, id="call", type="tool_call")


def _binding(pool: Sequence[Definition], size: int) -> Row:
    tools = json_tools(take(pool, size))
    model = NoOpModel()
    timing = Timing.of([timed(lambda: model.bind_tools(tools)) for _ in range(5)])
    return {"tools": size, "median ms": timing.median, "cpu ms": timing.cpu}
