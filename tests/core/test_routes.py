"""Every route to execution, in every state that a tool can be in: no cell runs that should not.

A subject is what is called, a way is how, a state is what the host or the world has made of it
since the conversation enabled it. What was sent upstream is the truth, not what was answered.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest

from deferred_tools import (
    Caller,
    CallerKind,
    Session,
    SourceState,
    SourceStatus,
    Tier,
    ToolResult,
    Toolset,
    ToolSpec,
    ToolTag,
)
from deferred_tools.errors import (
    DeferredToolsError,
    HostError,
    ModelError,
    SourceUnavailableError,
    StepFailedError,
    ToolNotEnabledError,
    ToolRefusedError,
    UnknownToolError,
)
from deferred_tools.lock import ToolsLock
from deferred_tools.settings import Settings
from deferred_tools.testing.sources import ScriptedSource, ScriptedTool, ready
from deferred_tools.workflows import Step, Workflow

EVE = Caller.principal("eve")
THREADS = 4
EVERY = ("s__t", "f", "k", "c", "w", "v")
"""A server's tool, a function, a contract of code, a contract that is mapped to the server's tool,
a workflow that calls it, and a workflow of that workflow."""


class Live:
    """A policy that can change its mind."""

    def __init__(self) -> None:
        self.forbidden: set[str] = set()
        self.forbidden_steps: set[str] = set()

    def allows(self, caller: Caller, spec: ToolSpec) -> bool:
        if caller.kind is CallerKind.WORKFLOW:
            return spec.name not in self.forbidden_steps
        return spec.name not in self.forbidden


@dataclass
class Bench:
    """One toolset in one state."""

    lock: Path
    without: str = ""
    """A name that there is no tool of."""
    changed: str = ""
    """A name whose tool says something else than it did."""
    settings: dict[str, Any] = field(default_factory=dict)
    state: SourceState | None = None
    """In place of what the server offers."""
    away: bool = False
    rule: Live = field(default_factory=Live)
    sent: list[dict[str, Any]] = field(default_factory=list)
    """What reached something that acts."""
    server: ScriptedSource = field(default_factory=lambda: ScriptedSource("s"))

    async def answer(self, arguments: dict[str, Any]) -> ToolResult:
        if self.away:
            raise SourceUnavailableError("s", "it is away")
        self.sent.append(arguments)
        return ToolResult(content=({"type": "text", "text": "done"},))

    def tool(self, name: str, text: str) -> ScriptedTool:
        return ScriptedTool(name, text, answer=self.answer)

    def told(self, name: str) -> str:
        return "Does something else." if self.changed == name else "Does it."

    def toolset(self) -> Toolset:
        tools = [] if self.without == "s__t" else [self.tool("t", self.told("s__t"))]
        functions = [] if self.without == "f" else [self.tool("f", self.told("f"))]
        contracts: dict[str, Any] = {
            "k": {"implementation": self.tool("x", "")},
            "c": {},
        }
        given = {
            "contracts": {
                name: {**contract, "description": self.told(name)}
                for name, contract in contracts.items()
                if name != self.without
            },
            "overrides": {} if self.without == "c" else {"c": {"server": "s", "tool": "t"}},
        }
        for key, value in self.settings.items():
            given[key] = {**given[key], **value} if key == "contracts" else value
        self.server = ScriptedSource("s", self.state or ready(*tools))
        own = ScriptedSource("functions", ready(*functions), tier=Tier.CODE)
        toolset = Toolset(
            [self.server, own], settings=Settings.from_dict(given), policies=[self.rule]
        )
        return toolset.register_workflow_tools(self.workflows())

    def workflows(self) -> list[Workflow]:
        async def inner(arguments: dict[str, Any], step: Step) -> ToolResult:
            return await step("s__t", arguments)

        async def outer(arguments: dict[str, Any], step: Step) -> ToolResult:
            return await step("w", arguments)

        offered = [
            Workflow(name="w", run=inner, uses=("s__t",), description=self.told("w")),
            Workflow(name="v", run=outer, uses=("w",), description=self.told("v")),
        ]
        return [made for made in offered if made.name != self.without]


# --- states: what has become of a tool, by its name

Change = Callable[[Bench, str], None]


def allowed(bench: Bench, name: str) -> None:
    """Nothing has changed."""


def unknown(bench: Bench, name: str) -> None:
    bench.without = name


def forbidden(bench: Bench, name: str) -> None:
    bench.rule.forbidden.add(name)


def disabled(bench: Bench, name: str) -> None:
    bench.settings["disabled"] = [name]
    if name in {"c", "s__t"}:
        bench.settings["overrides"] = {}  # a contract is not overridden as well, nor mapped to it


def not_implemented(bench: Bench, name: str) -> None:
    bench.state = SourceState(status=SourceStatus.UNAVAILABLE)
    bench.settings["contracts"] = {"k": {}}


def withheld(bench: Bench, name: str) -> None:
    specs = [ToolSpec(source="s", tool="t", description="What was accepted.")]
    ToolsLock.of(specs, {}).write(bench.lock)
    bench.settings["lock"] = str(bench.lock)


def stale(bench: Bench, name: str) -> None:
    bench.changed = name


def completing(bench: Bench, name: str) -> None:
    bench.settings["tags"] = {name: ["egress"]}


def away(bench: Bench, name: str) -> None:
    bench.away = True


def forbidden_step(bench: Bench, name: str) -> None:
    bench.rule.forbidden_steps.add("s__t")


OF_SERVER = ("s__t", "c", "w", "v")
STATES: list[tuple[Change, tuple[str, ...], type[DeferredToolsError] | None]] = [
    (allowed, EVERY, None),
    (unknown, ("f", "k", "c", "v"), UnknownToolError),  # others need `s__t` and `w`
    (forbidden, EVERY, UnknownToolError),
    (disabled, EVERY, ToolRefusedError),
    (not_implemented, ("k", "c", "w", "v"), ToolRefusedError),
    (withheld, OF_SERVER, ToolRefusedError),
    (stale, EVERY, ToolNotEnabledError),
    (completing, EVERY, ToolRefusedError),
    (away, ("s__t", "c"), SourceUnavailableError),
    (away, ("w", "v"), StepFailedError),
    (forbidden_step, ("w", "v"), StepFailedError),
]

# --- ways: how it is called

Way = Callable[[Toolset, Session, str], object]


def by_call(toolset: Toolset, session: Session, name: str) -> object:
    return toolset.call(session, name, {})


def by_acall(toolset: Toolset, session: Session, name: str) -> object:
    return anyio.run(toolset.acall, session, name, {})


def _id(name: str) -> str:
    source = {"s__t": "", "f": "functions__", "w": "workflows__", "v": "workflows__"}
    return source.get(name, "contracts__") + name


def by_id(toolset: Toolset, session: Session, name: str) -> object:
    return toolset.call(session, _id(name), {})


def by_stored_session(toolset: Toolset, session: Session, name: str) -> object:
    restored = Session.model_validate_json(session.model_dump_json())
    return toolset.call(restored, name, {})


def by_check(toolset: Toolset, session: Session, name: str) -> object:
    """As an adapter does: what is admitted is called through the toolset."""
    admitted = toolset.check(session, name, {})
    return toolset.call(admitted.session, admitted.entry.spec.name, admitted.arguments)


def by_binding(toolset: Toolset, session: Session, name: str) -> object:
    """Only what is bound is offered to a model; calling what is not is refused all the same."""
    names = [entry.spec.name for entry in toolset.bound(session)]
    result = toolset.call(session, name, {})
    assert name in names
    return result


def by_threads(toolset: Toolset, session: Session, name: str) -> object:
    def one(_: int) -> object:
        try:
            return toolset.call(session, name, {})
        except DeferredToolsError as error:
            return error

    with ThreadPoolExecutor(THREADS) as threads:
        found = list(threads.map(one, range(THREADS)))
    errors = [answer for answer in found if isinstance(answer, Exception)]
    if errors:
        assert len(errors) == THREADS
        raise errors[0]
    return found


WAYS: list[Way] = [
    by_call,
    by_acall,
    by_id,
    by_stored_session,
    by_check,
    by_binding,
    by_threads,
]
CELLS = [
    pytest.param(state, name, error, id=f"{state.__name__}-{name}")
    for state, names, error in STATES
    for name in names
]


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A conversation that had every tool enabled, as it was stored when all was well."""
    with Bench(tmp_path_factory.mktemp("lock") / "lock").toolset() as toolset:
        found = toolset.search(Session(caller=EVE), {"names": list(EVERY)})
        assert len(found.enabled) == len(EVERY)
        return found.session.model_dump_json()


def session_for(state: Change, before: str, toolset: Toolset) -> Session:
    session = Session.model_validate_json(before)
    if state is completing:
        # Tags are part of what was enabled: it was enabled as it is now, before the others.
        session = session.enable(toolset.registry.specs)
        session = session.exposed_to({ToolTag.SENSITIVE, ToolTag.UNTRUSTED_INPUT})
    return session


@pytest.mark.parametrize(("state", "name", "error"), CELLS)
def test_a_tool_runs_only_where_it_may_whichever_way_it_is_called(
    state: Change,
    name: str,
    error: type[DeferredToolsError] | None,
    before: str,
    tmp_path: Path,
) -> None:
    bench = Bench(tmp_path / "lock")
    state(bench, name)
    with bench.toolset() as toolset:
        session = session_for(state, before, toolset)
        for way in WAYS:
            bench.sent.clear()
            if error is None:
                way(toolset, session, name)
                assert len(bench.sent) == (THREADS if way is by_threads else 1), way
                continue
            with pytest.raises(error) as raised:
                way(toolset, session, name)
            assert type(raised.value) is error, way
            assert isinstance(raised.value, ModelError | HostError)
            assert bench.sent == [], way


def refused(
    error: type[DeferredToolsError], bench: Bench, session: Session, *names: str
) -> list[str]:
    """What is said of each of `names` in each way, when all are refused."""
    told = []
    with bench.toolset() as toolset:
        for name in names or EVERY:
            for way in WAYS:
                with pytest.raises(error) as raised:
                    way(toolset, session, name)
                told.append(str(raised.value))
    assert bench.sent == []
    return told


def test_what_was_not_enabled_is_not_run(tmp_path: Path) -> None:
    assert refused(ToolNotEnabledError, Bench(tmp_path / "lock"), Session(caller=EVE))


@pytest.mark.parametrize("name", EVERY)
def test_a_forbidden_tool_is_told_of_like_one_that_does_not_exist(
    name: str, before: str, tmp_path: Path
) -> None:
    session = Session.model_validate_json(before)
    bench = Bench(tmp_path / "lock")
    bench.rule.forbidden.add(name)

    def told(asked: str) -> list[str]:
        texts = refused(UnknownToolError, bench, session, asked)
        return [t.replace(repr(_id(asked)), "it").replace(repr(asked), "it") for t in texts]

    assert told(name) == told("zzqx")


@pytest.mark.parametrize("caller", [Caller.anonymous(), EVE.child("h", allow=[])], ids=str)
def test_who_may_nothing_runs_nothing_whatever_the_session_holds(
    caller: Caller, before: str, tmp_path: Path
) -> None:
    session = Session.model_validate_json(before).for_caller(caller)
    assert refused(UnknownToolError, Bench(tmp_path / "lock"), session)


def test_no_other_spelling_leads_to_a_tool(before: str, tmp_path: Path) -> None:
    names = ("S__T", "s__t ", "s__T", "t", "F", "scripted__t", "x", "s__", "__t", "*", "s__*")
    session = Session.model_validate_json(before)
    assert refused(UnknownToolError, Bench(tmp_path / "lock"), session, *names)


def test_what_a_server_takes_away_while_it_runs_is_gone_in_every_way(
    before: str, tmp_path: Path
) -> None:
    bench = Bench(tmp_path / "lock")
    session = Session.model_validate_json(before)
    with bench.toolset() as toolset:
        bench.server.push(ready())
        _until(lambda: not toolset.knows("s__t"))
        for way in WAYS:
            with pytest.raises(UnknownToolError):
                way(toolset, session, "s__t")
            for name in ("c", "w", "v"):
                with pytest.raises(ToolRefusedError, match="nothing carries it out at present"):
                    way(toolset, session, name)
        assert bench.sent == []
        bench.server.push(ready(bench.tool("t", "Does it.")))
        _until(lambda: toolset.knows("s__t"))
        for name in OF_SERVER:
            toolset.call(session, name, {})
    assert len(bench.sent) == len(OF_SERVER)


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        threading.Event().wait(0.002)
