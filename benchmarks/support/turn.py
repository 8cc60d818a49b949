"""What a turn costs beyond the same agent without us: two calls of the model, one of a tool."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import HumanMessage, ToolCall
from langchain_core.tools import BaseTool
from langgraph.checkpoint.memory import InMemorySaver
from support.clock import Sample, Timing, timed
from support.definitions import ANSWER, Definition, take
from support.langchain_tools import NoOpModel, json_tool, json_tools
from support.ours import AskedEveryTime, toolset
from support.parts import parts
from support.report import Goal, Measured, Row, Table

from deferred_tools import Policy, Toolset, ToolSpec
from langchain_deferred_tools.middleware import DeferredToolsMiddleware

SIZES = {0: 5.0, 1_000: 5.0, 5_549: 15.0}
"""Tools, and the milliseconds that a turn may cost more for them."""
POLICIES: dict[str, Policy | None] = {"default": None, "asked every time": AskedEveryTime()}
MODES = ("invoke", "ainvoke")
ENABLED = 5


def measure(pool: Sequence[Definition], *, turns: int) -> Measured:
    """Whole turns, their parts, and what binding every tool in each call would cost."""
    whole: list[Row] = []
    pieces: list[Row] = []
    goals: list[Goal] = []
    for size, most in SIZES.items():
        for policy, rule in POLICIES.items():
            with toolset(take(pool, size), rule) as tools:
                enabled = _simple(tools.registry.specs)
                for mode in MODES:
                    row = _compared(tools, enabled, mode, turns)
                    whole.append({"tools": size, "policy": policy, "mode": mode, **row})
                    name = f"added per turn, {size:,} tools, policy {policy}, {mode}"
                    goals.append(Goal(name, row["added ms"], most, "ms", cpu=row["added cpu"]))
                found = parts(tools, [spec.name for spec in enabled], turns)
                pieces += [{"tools": size, "policy": policy, **part} for part in found]
    tables = [
        Table(
            "Added per turn",
            whole,
            "A turn: the model calls an enabled tool, reads its answer and ends. The same "
            f"{ENABLED} tools are bound in both agents, which take turns. Added: of each pair.",
        ),
        Table(
            "Parts of a turn",
            pieces,
            "A turn has two of session, block and bound tools, and one of the gate; a search is "
            "one more.",
        ),
        Table(
            "Binding every tool, in each call of the model",
            [_binding(pool, size) for size in SIZES if size],
            "LangChain's own conversion of all tools to the provider's form.",
        ),
    ]
    return Measured(tables, goals)


def _compared(tools: Toolset, enabled: Sequence[ToolSpec], mode: str, turns: int) -> Row:
    """Turns with ours and without, one after the other, so that both see the same machine."""
    base = json_tool("ping", "Answer.", {})
    same = [json_tool(s.name, s.description, s.parameters) for s in enabled]
    search = _call("tool_search", names=[spec.name for spec in enabled])
    call = _call(enabled[0].name if enabled else base.name)
    with asyncio.Runner() as runner:
        ours = _Agent([base], [DeferredToolsMiddleware(tools)], search, call).turn(mode, runner)
        plain = _Agent([base, *same], [], _call(base.name), call).turn(mode, runner)
        pairs = [(timed(plain), timed(ours)) for _ in range(turns)]
    added = Timing.of([Sample(o.wall - p.wall, o.cpu - p.cpu) for p, o in pairs])
    before = Timing.of([without for without, _ in pairs])
    after = Timing.of([with_ours for _, with_ours in pairs])
    return {
        "plain ms": before.median,
        "ours ms": after.median,
        "added ms": added.median,
        "added p90": added.p90,
        "added least": after.least - before.least,
        "added cpu": added.cpu,
    }


@dataclass(frozen=True)
class _Agent:
    """An agent whose first turn makes the call `first`, and each later turn the call `then`."""

    tools: Sequence[BaseTool]
    middleware: Sequence[AgentMiddleware[Any, Any, Any]]
    first: ToolCall
    then: ToolCall

    def turn(self, mode: str, runner: asyncio.Runner) -> Callable[[], object]:
        """A turn that can be run again and again, each time from where the first one ended."""
        agent = create_agent(
            NoOpModel(calls={"prepare": self.first, "go": self.then}),
            tools=self.tools,
            middleware=self.middleware,
            checkpointer=InMemorySaver(),
        )
        thread: Any = {"configurable": {"thread_id": "1"}}
        agent.invoke({"messages": [HumanMessage("prepare")]}, thread)
        start = agent.get_state(thread).config
        said: Any = {"messages": [HumanMessage("go")]}

        def run() -> Any:
            if mode == "invoke":
                return agent.invoke(said, start)
            return runner.run(agent.ainvoke(said, start))

        answer = run()["messages"][-2]
        if answer.content != ANSWER:
            raise RuntimeError(f"the turn did not run its tool: {answer.content}")
        return run


def _simple(specs: Sequence[ToolSpec]) -> list[ToolSpec]:
    """A few tools that may be called without arguments, spread over the catalogue."""
    simple = [spec for spec in specs if not spec.parameters.get("required")]
    return simple[:: max(1, len(simple) // ENABLED)][:ENABLED]


def _call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name=name, args=arguments, id="call", type="tool_call")


def _binding(pool: Sequence[Definition], size: int) -> Row:
    tools = json_tools(take(pool, size))
    model = NoOpModel()
    timing = Timing.of([timed(lambda: model.bind_tools(tools)) for _ in range(5)])
    return {"tools": size, "median ms": timing.median, "cpu ms": timing.cpu}
