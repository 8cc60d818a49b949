"""What a step costs beyond the same agent without us: one call of the model, and one of a tool."""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from llama_index.core.agent.workflow import AgentOutput, FunctionAgent, ToolCallResult
from llama_index.core.workflow import Context
from support.clock import Sample, Timing, timed
from support.definitions import ANSWER, Definition, take
from support.llama_peer import TOP, index
from support.llama_tools import NoOpLLM, Script, call, json_tool
from support.ours import toolset
from support.report import Goal, Measured, Row, Table

from deferred_tools import ToolSpec
from llama_index.tools.deferred import DeferredTools

SIZES = {1_000: 5.0, 5_549: 15.0}
"""Tools, and the milliseconds that a step may cost more for them."""
ENABLED = 5
STEPS = 10
"""In a run, after which the model is called once more, to end it: that counts as theirs, too."""
PREPARE = "prepare"


def measure(pool: Sequence[Definition], *, runs: int) -> Measured:
    """Steps of ours, and of an ObjectIndex, each against the same few tools bound statically."""
    rows: list[Row] = []
    goals: list[Goal] = []
    for size, most in SIZES.items():
        with toolset(take(pool, size)) as tools, asyncio.Runner() as loop:
            specs = tools.registry.specs
            enabled = _simple(specs)
            says = f"{enabled[0].name} {enabled[0].description}"
            steps = {says: [call(enabled[0].name)] * STEPS}
            search = {PREPARE: [call("tool_search", names=[spec.name for spec in enabled])]}
            plain = _agent(steps, tools=[json_tool(spec) for spec in enabled])
            ours = DeferredTools(tools).attach(_agent(steps | search))
            everything = index([json_tool(spec) for spec in specs])
            peer = _agent(steps, tool_retriever=everything.as_retriever(similarity_top_k=TOP))
            for what, agent in {"ours": ours, "ObjectIndex": peer}.items():
                row = _compared(_Steps.of(plain, loop, says), _Steps.of(agent, loop, says), runs)
                rows.append({"tools": size, "agent": what, **row})
                if agent is ours:
                    name = f"added per step, {size:,} tools"
                    cpu = row["added cpu ms"]
                    goals.append(Goal(name, row["added ms"], most, "ms", cpu=cpu))
    note = (
        f"A step: the model calls an enabled tool and reads its answer; {STEPS} in a run, agents "
        f"taking turns. Plain: the same {ENABLED} tools, always bound. ObjectIndex: the {TOP} "
        "tools nearest to the user's message (here the tool's own name and description), and to "
        "the tool's name when it is called, by hashed words; a model's time comes on top. Not "
        "found: calls of a tool that is not among the latter."
    )
    return Measured([Table("Added per step", rows, note)], goals)


@dataclass(frozen=True)
class _Steps:
    """Runs of an agent, each from where its preparation ended."""

    agent: FunctionAgent
    loop: asyncio.Runner
    says: str
    start: dict[str, Any]

    @classmethod
    def of(cls, agent: FunctionAgent, loop: asyncio.Runner, says: str) -> "_Steps":
        """Have it prepared."""
        ctx: Context[Any] = Context(agent)
        loop.run(_run(agent, PREPARE, ctx))
        made = cls(agent, loop, says, ctx.to_dict())
        made.lost()  # once, so that nothing is first
        return made

    def lost(self) -> int:
        """How many calls of a run are answered by something else than the tool."""
        results = self.loop.run(self._started()).tool_calls
        found = [r for r in results if isinstance(r, ToolCallResult)]
        return STEPS - sum(r.tool_output.content == ANSWER for r in found)

    def timed(self) -> Sample:
        """How long one step of a run takes."""
        started = self._started()
        whole = timed(lambda: self.loop.run(started))
        return Sample(whole.wall / STEPS, whole.cpu / STEPS)

    def _started(self) -> Coroutine[Any, Any, AgentOutput]:
        return _run(self.agent, self.says, Context.from_dict(self.agent, self.start))


def _compared(plain: _Steps, other: _Steps, runs: int) -> Row:
    """One after the other, so that both see the same machine."""
    pairs = [(plain.timed(), other.timed()) for _ in range(runs)]
    added = Timing.of([Sample(o.wall - p.wall, o.cpu - p.cpu) for p, o in pairs])
    return {
        "plain ms": Timing.of([without for without, _ in pairs]).median,
        "its own ms": Timing.of([with_it for _, with_it in pairs]).median,
        "added ms": added.median,
        "added p90": added.p90,
        "added cpu ms": added.cpu,
        "not found": f"{other.lost()} of {STEPS}",
    }


def _agent(script: Script, **fields: Any) -> FunctionAgent:
    return FunctionAgent(llm=NoOpLLM.of(script), system_prompt="You help.", **fields)


async def _run(agent: FunctionAgent, says: str, ctx: Context[Any]) -> AgentOutput:
    output: AgentOutput = await agent.run(user_msg=says, ctx=ctx, max_iterations=STEPS + 5)
    return output


def _simple(specs: Sequence[ToolSpec]) -> list[ToolSpec]:
    """A few tools that may be called without arguments, spread over the catalogue."""
    simple = [spec for spec in specs if not spec.parameters.get("required")]
    return simple[:: max(1, len(simple) // ENABLED)][:ENABLED]
