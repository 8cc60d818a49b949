"""Every route of this adapter to a tool, in every state that a tool can be in.

No cell runs a tool that should not run: what the tool noted is the truth, not what was answered.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from langchain_core.messages import ToolMessage
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver

from deferred_tools import Caller, Session, SourceState, SourceStatus, Toolset, ToolSpec, ToolTag
from deferred_tools.errors import SourceUnavailableError
from deferred_tools.lock import ToolsLock
from deferred_tools.registered import RegisteredTool
from deferred_tools.settings import Settings
from deferred_tools.testing.sources import ScriptedSource, ScriptedTool, ready
from langchain_deferred_tools import Conversation, bind
from langchain_deferred_tools.state import STATE_KEY, change_to
from tests.support.agents import Runner, agent_of, answers, thread
from tests.support.graphs import Built
from tests.support.scripted_model import call, says

ROOT = Caller.root()
EVERY = ("s__t", "plan", "own")
"""The tools, by name."""


@dataclass
class Bench:
    """One toolset with a server's tool, a contract, and a tool of LangChain's, and who calls."""

    folder: Path
    settings: dict[str, Any] = field(default_factory=dict)
    caller: Caller = ROOT
    without: bool = False
    away: bool = False
    text: str = "Does it."
    ran: list[str] = field(default_factory=list)

    def toolset(self) -> Toolset:
        server = ScriptedTool("t", self.text)
        own = StructuredTool.from_function(self._run, name="own", description=self.text)
        if self.away:
            server = ScriptedTool("t", self.text, answer=_away)
        self.server, self.implementation = server, ScriptedTool("x")
        contract = {"description": self.text, "implementation": self.implementation}
        contracts = {} if self.without else {"plan": contract}
        tags = {name: ["egress"] for name in EVERY}
        settings = {"contracts": contracts, "tags": {} if self.without else tags, **self.settings}
        status = SourceStatus.UNAVAILABLE if self.away else SourceStatus.READY
        state = SourceState(status=status, tools=(server,), reason="it is away" * self.away)
        self.made = Toolset.from_sources(
            ScriptedSource("s", ready() if self.without else state),
            [] if self.without else [own],
            settings=Settings.from_dict(settings),
        )
        return self.made

    def _run(self) -> str:
        self.ran.append("own")
        return "done"

    @property
    def runs(self) -> int:
        """How often one of the tools ran; one whose server is away is only tried."""
        tried = 0 if self.away else len(self.server.calls)
        return tried + len(self.implementation.calls) + len(self.ran)


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, RegisteredTool]:
    """The tools while nothing was amiss, as they were enabled and handed out."""
    with Bench(tmp_path_factory.mktemp("before")).toolset() as toolset:
        return toolset.registry.tools


async def _away(arguments: dict[str, Any]) -> Any:
    raise SourceUnavailableError("s", "it is away")


# --- states: what has become of the tool since it was enabled

State = Callable[[Bench, Session, str], Session]


def allowed(bench: Bench, session: Session, name: str) -> Session:
    return session


def unknown(bench: Bench, session: Session, name: str) -> Session:
    bench.without = True
    return session


def forbidden(bench: Bench, session: Session, name: str) -> Session:
    bench.caller = Caller.subagent("helper", allow=["another"])
    return session


def disabled(bench: Bench, session: Session, name: str) -> Session:
    bench.settings["disabled"] = [name]
    return session


def not_implemented(bench: Bench, session: Session, name: str) -> Session:
    bench.settings["contracts"] = {"plan": {"description": bench.text}}
    return session


def not_enabled(bench: Bench, session: Session, name: str) -> Session:
    return session.disable([name])


def withheld(bench: Bench, session: Session, name: str) -> Session:
    path = bench.folder / "tools.lock"
    ToolsLock.of([ToolSpec(source="s", tool="t", description="Accepted.")], {}).write(path)
    bench.settings["lock"] = str(path)
    return session


def stale(bench: Bench, session: Session, name: str) -> Session:
    bench.text = "Does something else."
    return session


def completing(bench: Bench, session: Session, name: str) -> Session:
    return session.exposed_to([ToolTag.SENSITIVE, ToolTag.UNTRUSTED_INPUT])


def away(bench: Bench, session: Session, name: str) -> Session:
    bench.away = True
    return session


STATES: list[tuple[State, tuple[str, ...], str]] = [
    (allowed, EVERY, ""),
    (unknown, EVERY, "There is no tool named"),
    (forbidden, EVERY, "There is no tool named"),
    (disabled, EVERY, "switched off by the host"),
    (not_implemented, ("plan",), "nothing carries it out"),
    (not_enabled, EVERY, "is not enabled in this conversation"),
    (withheld, ("s__t",), "not as the host accepted it"),
    (stale, EVERY, "is not enabled in this conversation"),
    (completing, EVERY, "carry private data out"),
    (away, ("s__t",), "'s' is unavailable"),
]

# --- routes: how it is called

Route = Callable[[Bench, Session, RegisteredTool], Any]
"""Takes the tool as it was while nothing was amiss."""


def agent(colour: Any) -> Route:
    """The middleware, in a conversation whose ledger is in a checkpoint."""

    def route(bench: Bench, session: Session, tool: RegisteredTool) -> ToolMessage:
        script = [says(text="hello"), says(call(tool.spec.name)), says(text="ok")]
        saver = InMemorySaver()
        _, made = agent_of(script, bench.made, caller=bench.caller, checkpointer=saver)
        return _second_turn(Runner(colour), made, session)

    return route


def graph(colour: Any, way: str) -> Route:
    """The tool node of a graph that was built by hand."""

    def route(bench: Bench, session: Session, tool: RegisteredTool) -> ToolMessage:
        script = (says(text="hello"), says(call(tool.spec.name)), says(text="ok"))
        built = Built(
            bench.made, *script, caller=bench.caller, route=way, checkpointer=InMemorySaver()
        )
        return _second_turn(Runner(colour), built.graph, session)

    return route


def _second_turn(run: Runner, made: Any, session: Session) -> ToolMessage:
    run(made, "one", thread())
    made.update_state(thread(), {STATE_KEY: change_to(session)})
    return answers(run(made, "two", thread()))[-1]


def loop(bench: Bench, session: Session, tool: RegisteredTool) -> ToolMessage:
    chat = Conversation(bench.made, caller=bench.caller, session=session)
    return chat.run(says(call(tool.spec.name)))[0]


def async_loop(bench: Bench, session: Session, tool: RegisteredTool) -> ToolMessage:
    chat = Conversation(bench.made, caller=bench.caller, session=session)
    return asyncio.run(chat.arun(says(call(tool.spec.name))))[0]


def kept(bench: Bench, session: Session, tool: RegisteredTool) -> Any:
    """Somebody kept the tool that was bound while nothing was amiss."""
    mine = bind(bench.made, session.for_caller(bench.caller), tool)
    return mine.invoke(call(tool.spec.name))


def async_kept(bench: Bench, session: Session, tool: RegisteredTool) -> Any:
    mine = bind(bench.made, session.for_caller(bench.caller), tool)
    return asyncio.run(mine.ainvoke(call(tool.spec.name)))


class Cell(NamedTuple):
    """One route and one state of one tool."""

    route: str
    state: State
    name: str
    told: str
    """What the answer says; "" where the tool runs."""


ROUTES: dict[str, Route] = {
    "agent, invoke": agent("sync"),
    "agent, ainvoke": agent("async"),
    "graph, invoke": graph("sync", "tools condition"),
    "graph, ainvoke": graph("async", "tools condition"),
    "graph, each call by itself": graph("async", "each call"),
    "loop, run": loop,
    "loop, arun": async_loop,
    "kept tool, invoke": kept,
    "kept tool, ainvoke": async_kept,
}
CELLS = [
    Cell(route, state, name, told)
    for route in ROUTES
    for state, names, told in STATES
    for name in names
    # A tool object of the application's own is the application's to call, whatever we say.
    if not (name == "own" and "kept" in route)
]


@pytest.mark.parametrize(
    "cell", CELLS, ids=lambda cell: f"{cell.route}-{cell.state.__name__}-{cell.name}"
)
def test_only_what_may_run_runs(
    tmp_path: Path, before: Mapping[str, RegisteredTool], cell: Cell
) -> None:
    bench, tool, told = Bench(tmp_path), before[cell.name], cell.told
    session = cell.state(bench, Session(caller=ROOT).enable([tool.spec]), cell.name)
    with bench.toolset():
        answer = ROUTES[cell.route](bench, session, tool)
    assert (answer.name, answer.status) == (cell.name, "error" if told else "success")
    assert told in answer.text
    assert bench.runs == (0 if told else 1)
    if cell.state is forbidden:
        assert answer.text.removeprefix("Error: ") == (
            f"There is no tool named {cell.name!r} available to you. Call `tool_search` with what "
            "you need to do to find one that is."
        )
