"""The one object that an application makes: its parts wired, its lifetime, its threads."""

import asyncio
import gc
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import pytest
from pydantic import BaseModel

from deferred_tools import (
    Caller,
    FunctionSource,
    Grant,
    Grants,
    Hit,
    Lazy,
    Limits,
    Policy,
    Retriever,
    Session,
    Source,
    SourceState,
    SourceStatus,
    Tier,
    ToolResult,
    Toolset,
    ToolSpec,
    ToolTag,
    hookimpl,
)
from deferred_tools.errors import (
    ConfigurationError,
    InvalidArgumentsError,
    PluginError,
    RegistryBuildError,
    ToolNotEnabledError,
    ToolTimeoutError,
    UnknownToolError,
)
from deferred_tools.retrievers.hybrid import hybrid
from deferred_tools.retrievers.vectors import Vectors
from deferred_tools.testing.sources import ScriptedSource, ScriptedTool, ready

ROOT, EVE = Caller.root(), Caller.principal("eve")
SECONDS = 5.0
QUICK = Limits(startup_seconds=0.05)
AWAY = SourceState(status=SourceStatus.UNAVAILABLE, reason="it is away")


def clock(zone: str = "UTC") -> str:
    """Tell the time in a zone."""
    return f"noon {zone}"


def add(one: int, two: int) -> int:
    """Add two numbers."""
    return one + two


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        threading.Event().wait(0.002)


def enabled(toolset: Toolset, *names: str, caller: Caller = ROOT) -> Session:
    return toolset.search(Session(caller=caller), {"names": list(names)}).session


def listed(toolset: Toolset) -> tuple[str, ...]:
    return toolset.registry.names()


BEFORE: set[threading.Thread] = set()


@pytest.fixture(autouse=True)
def _note_threads() -> None:
    """Other tests may have left toolsets open, which end with the process."""
    BEFORE.clear()
    BEFORE.update(threading.enumerate())


def loops() -> set[threading.Thread]:
    """The background loops that were started in this test."""
    found = {thread for thread in threading.enumerate() if thread.name == "deferred-tools"}
    return found - BEFORE


# --- a whole conversation


def test_a_conversation_from_the_prompt_to_the_result() -> None:
    with Toolset.from_sources(clock, add) as toolset:
        assert '<tool name="clock">Tell the time in a zone.</tool>' in toolset.prompt(ROOT)
        session = Session(caller=ROOT)
        assert toolset.bound(session) == ()
        with pytest.raises(ToolNotEnabledError):
            toolset.call(session, "clock", {})
        outcome = toolset.search(session, {"query": "what time is it"})
        session = outcome.session
        assert [tool.name for tool in outcome.enabled] == ["clock"]
        assert [entry.spec.name for entry in toolset.bound(session)] == ["clock"]
        assert toolset.call(session, "clock", {"zone": "CET"}).text == "noon CET"
        with pytest.raises(InvalidArgumentsError):
            toolset.call(session, "clock", {"zone": 5})
        with pytest.raises(UnknownToolError):
            toolset.call(session, "none", {})
        assert toolset.check(session, "functions__clock", {}).entry.spec.name == "clock"
        assert toolset.knows("add")
        assert not toolset.knows("none")
        assert toolset.status()["sources"]["functions"]["status"] == "ready"


def test_a_session_goes_on_in_another_toolset() -> None:
    with Toolset.from_sources(clock) as toolset:
        stored = enabled(toolset, "clock").model_dump_json()
    with Toolset.from_sources(clock, add) as toolset:
        session = Session.model_validate_json(stored)
        assert toolset.call(session, "clock", {}).text == "noon UTC"


def test_each_caller_sees_and_reaches_its_own() -> None:
    policies = [Grants([Grant(tools=("clock",)), Grant(tools=("add",), roles=("math",))])]
    with Toolset.from_sources(clock, add, policies=policies) as toolset:
        assert [s.name for s in toolset.catalog(EVE).all()] == ["clock"]
        assert "add" not in toolset.prompt(EVE)
        assert toolset.prompt(None) == toolset.prompt(Caller.anonymous()) == ""
        session = enabled(toolset, "clock", "add", caller=EVE)
        assert [entry.spec.name for entry in toolset.bound(session)] == ["clock"]
        with pytest.raises(UnknownToolError):
            toolset.call(session, "add", {})
        ada = Caller.principal("ada", roles=["math"])
        assert toolset.call(
            enabled(toolset, "add", caller=ada), "add", {"one": 1, "two": 2}
        ).text == "3"  # fmt: skip


def test_a_right_that_is_withdrawn_is_withdrawn_at_the_next_call() -> None:
    allowed = True

    class Rule:
        def allows(self, caller: Caller, spec: ToolSpec) -> bool:
            return allowed

    with Toolset.from_sources(clock, policies=[Rule()]) as toolset:
        session = enabled(toolset, "clock")
        assert toolset.call(session, "clock", {})
        allowed = False
        assert toolset.bound(session) == ()
        assert toolset.prompt(ROOT) == ""
        with pytest.raises(UnknownToolError):
            toolset.call(session, "clock", {})


def test_without_any_policy_nothing_can_be_reached() -> None:
    with Toolset.from_sources(clock, policies=[]) as toolset:
        assert toolset.prompt(ROOT) == ""


def test_a_forbidden_tool_changes_nothing_that_another_caller_is_told() -> None:
    def mail_secretly(text: str) -> None:
        """Send mail to people in a zone, send mail secretly, tell the time."""

    def mail(text: str) -> None:
        """Send mail to people."""

    def post(text: str) -> None:
        """Send a letter to people in a zone."""

    policies = [Grants([Grant(tools=("mail", "post", "clock"))])]

    def answers(*functions: object) -> list[object]:
        with Toolset.from_sources(*functions, policies=policies) as toolset:
            session = Session(caller=EVE)
            outcomes = [
                toolset.search(session, {"query": query, "limit": limit})
                for query in ("send mail", "secretly", "people in a zone", "tell the time", "text")
                for limit in (1, 5)
            ]
            outcomes.append(toolset.search(session, {"names": ["mail_secretly"]}))
            told: list[object] = [(o.text, o.data, o.session) for o in outcomes]
            return [*told, toolset.prompt(EVE), toolset.catalog(EVE).fingerprint]

    assert answers(mail_secretly, mail, post, clock) == answers(mail, post, clock)


def test_what_a_function_raises_goes_through_unchanged() -> None:
    error = LookupError("no such row")

    def find() -> None:
        raise error

    async def afind() -> None:
        raise error

    with Toolset.from_sources(find, afind) as toolset:
        session = enabled(toolset, "find", "afind")
        for name in ("find", "afind"):
            with pytest.raises(LookupError) as raised:
                toolset.call(session, name, {})
            assert raised.value is error


def test_a_function_that_hangs_ends_with_its_deadline() -> None:
    async def hang() -> None:
        await anyio.sleep_forever()

    with Toolset.from_sources(hang, clock, limits=Limits(call_seconds=0.05)) as toolset:
        session = enabled(toolset, "hang", "clock")
        with pytest.raises(ToolTimeoutError, match=r"'hang' did not answer within 0\.05 s"):
            toolset.call(session, "hang", {})
        assert toolset.call(session, "clock", {}).text == "noon UTC"


# --- what it is made of


class Card(BaseModel):
    """A framework's tool object: pydantic makes it iterable."""

    label: str = "card"


def test_tools_come_one_by_one_in_lists_or_with_sources_of_their_own() -> None:
    server = ScriptedSource("server", ready(ScriptedTool("t")))
    other = ScriptedSource("other", ready())

    def extra() -> None: ...

    toolset = Toolset.from_sources(
        server, clock, [other, add], Lazy(lambda: extra), (f"{__name__}:until" for _ in "x")
    )
    with pytest.raises(ConfigurationError, match=r"until.*no JSON can fill"):
        toolset.open()  # it takes a callable
    toolset = Toolset.from_sources(server, clock, [other, add], Lazy(lambda: extra))
    with toolset:
        assert listed(toolset) == ("server__t", "clock", "add", "extra")
        assert list(toolset.status()["sources"]) == ["server", "functions", "other"]


def test_a_text_is_one_import_string() -> None:
    with Toolset.from_sources(f"{__name__}:clock") as toolset:
        assert listed(toolset) == ("clock",)


def test_a_pydantic_object_is_one_tool_and_not_its_fields() -> None:
    with pytest.raises(ConfigurationError, match=r"Card\(label='card'\) is not a tool"):
        Toolset.from_sources(Card()).open()


def test_tools_of_ours_keep_no_source_of_their_own() -> None:
    with Toolset.from_sources(ScriptedTool("one"), [ScriptedTool("two")]) as toolset:
        session = enabled(toolset, "one", "two")
        assert [entry.spec.id for entry in toolset.bound(session)] == [
            "functions__one", "functions__two",
        ]  # fmt: skip


def test_a_toolset_of_nothing_is_one_too() -> None:
    with Toolset.from_sources() as toolset:
        assert toolset.prompt(ROOT) == ""
        assert toolset.search(Session(caller=ROOT), {"query": "x"}).misses
        assert toolset.catalog(ROOT).all() == ()


def test_a_retriever_that_does_not_exist_is_told_at_once() -> None:
    with pytest.raises(ConfigurationError, match="bm52"):
        Toolset([], retriever="bm52")


def test_names_are_checked_with_every_problem_at_once_and_anew_at_the_next_use() -> None:
    toolset = Toolset.from_sources(clock, clock, FunctionSource([add], name="a__b"))
    for _ in range(2):
        with pytest.raises(RegistryBuildError) as raised:
            toolset.prompt(ROOT)
        assert len(raised.value.problems) == 2
    assert not loops()


# --- lifetime


def test_nothing_is_started_before_the_first_use() -> None:
    ran: list[str] = []

    def factory() -> object:
        ran.append("made")
        return clock

    source = ScriptedSource("s", ready())
    toolset = Toolset.from_sources(source, Lazy(factory))
    catalog = toolset.catalog(ROOT)
    assert (ran, loops()) == ([], set())
    with toolset:
        assert [summary.name for summary in catalog.all()] == ["clock"]
        assert ran == ["made"]


def test_it_opens_again_after_it_was_closed() -> None:
    toolset = Toolset.from_sources(clock)
    for _ in range(3):
        session = enabled(toolset, "clock")  # opens at its first use
        assert toolset.call(session, "clock", {}).text == "noon UTC"
        assert len(loops()) == 1
        toolset.close()
        toolset.close()  # again
        assert not loops()
    assert toolset.open() is toolset
    with toolset as same:
        assert same is toolset
        assert len(loops()) == 1
    assert not loops()


def test_it_opens_and_closes_with_async_with() -> None:
    async def use() -> str:
        async with Toolset.from_sources(clock) as toolset:
            return (await toolset.acall(enabled(toolset, "clock"), "clock", {})).text

    assert anyio.run(use) == "noon UTC"
    assert not loops()


def test_a_cancelled_async_with_is_closed_all_the_same() -> None:
    async def use() -> None:
        with anyio.CancelScope() as scope:
            async with Toolset.from_sources(clock):
                scope.cancel()
                await anyio.sleep_forever()

    anyio.run(use)
    assert not loops()


def test_an_async_with_that_is_cancelled_while_it_opens_leaves_nothing_open() -> None:
    toolset = Toolset.from_sources(ScriptedSource("never"))

    async def use() -> None:
        with anyio.move_on_after(0.05):
            async with toolset:
                pytest.fail("it must not open")

    anyio.run(use)
    assert not loops()


def test_what_is_being_built_while_it_is_closed_does_not_come_back() -> None:
    building, go_on = threading.Event(), threading.Event()

    class Slow:
        def index(self, specs: Sequence[ToolSpec]) -> None:
            if len(specs) > 1:
                building.set()
                assert go_on.wait(SECONDS)
                built.set()

        def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
            return []

    built = threading.Event()
    source = ScriptedSource("s", ready(ScriptedTool("a")))
    toolset = Toolset([source], retriever=Slow).open()
    source.push(ready(ScriptedTool("a"), ScriptedTool("b")))
    assert building.wait(SECONDS)
    toolset.close()
    go_on.set()
    assert built.wait(SECONDS)
    with toolset:  # opens anew, with a loop of its own
        assert len(loops()) == 1
        assert listed(toolset) == ("s__a", "s__b")


def test_a_toolset_that_nobody_holds_ends_its_thread() -> None:
    toolset = Toolset.from_sources(clock, ScriptedSource("s", ready()))
    toolset.prompt(ROOT)
    (thread,) = loops()
    del toolset
    gc.collect()
    thread.join(SECONDS)
    assert not thread.is_alive()


def test_a_process_ends_though_a_toolset_was_not_closed() -> None:
    code = (
        "from deferred_tools import Toolset, Caller\n"
        "def clock() -> str: ...\n"
        "toolset = Toolset.from_sources(clock)\n"
        "print(len(toolset.prompt(Caller.root())) > 0)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        capture_output=True, text=True, timeout=30, check=True,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("True\n", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
def test_after_a_fork_the_child_opens_its_own() -> None:
    code = """
import os, sys, threading
from deferred_tools import Caller, Session, Toolset
def pid() -> int:
    "Say who runs this."
    return os.getpid()
toolset = Toolset.from_sources(pid)
session = toolset.search(Session(caller=Caller.root()), {"names": ["pid"]}).session
idle = os.fork()
if idle == 0:
    sys.exit(3)  # as a worker does that had no need of it
child = os.fork()
if child == 0:
    assert toolset.call(session, "pid", {}).text == str(os.getpid())
    toolset.close()
    assert toolset.call(session, "pid", {}).text == str(os.getpid())
    toolset.close()
    sys.exit(7)
codes = [os.waitstatus_to_exitcode(os.waitpid(one, 0)[1]) for one in (idle, child)]
assert toolset.call(session, "pid", {}).text == str(os.getpid())
print(*codes)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True
    )
    assert (done.stdout, done.stderr) == ("3 7\n", "")


# --- threads and event loops


def test_it_is_used_from_many_threads_at_once() -> None:
    toolset = Toolset.from_sources(add)

    def use(number: int) -> str:
        session = enabled(toolset, "add")
        return toolset.call(session, "add", {"one": number, "two": 1}).text

    with toolset, ThreadPoolExecutor(8) as threads:
        assert list(threads.map(use, range(40))) == [str(n + 1) for n in range(40)]
        assert len(loops()) == 1


def test_threads_that_open_it_at_once_start_it_once() -> None:
    made: list[int] = []

    def factory() -> object:
        made.append(1)
        return clock

    toolset = Toolset.from_sources(Lazy(factory))
    start = threading.Barrier(8)

    def use(_: int) -> tuple[str, ...]:
        start.wait(SECONDS)
        return listed(toolset)

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(use, range(8))) == {("clock",)}
    assert len(made) == len(loops()) == 1
    toolset.close()


def test_it_is_used_from_several_event_loops() -> None:
    async def where() -> str:
        """Say which loop runs this."""
        return str(id(asyncio.get_running_loop()))

    async def use(toolset: Toolset) -> bool:
        session = enabled(toolset, "where")
        here = str(id(asyncio.get_running_loop()))
        both = await asyncio.gather(*(toolset.acall(session, "where", {}) for _ in range(5)))
        return {result.text for result in both} == {here}

    with Toolset.from_sources(where) as toolset:
        with ThreadPoolExecutor(3) as threads:
            assert all(threads.map(lambda _: asyncio.run(use(toolset)), range(3)))
        assert asyncio.run(use(toolset))


def test_a_running_loop_is_not_blocked_while_it_opens() -> None:
    source = ScriptedSource("s")
    toolset = Toolset.from_sources(source)

    async def use() -> tuple[str, ...]:
        async def settle() -> None:
            source.push(ready(ScriptedTool("t")))

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(toolset.aopen())
            tasks.create_task(settle())
        return listed(toolset)

    assert asyncio.run(use()) == ("s__t",)
    toolset.close()


def test_who_no_longer_waits_for_it_to_open_is_let_go() -> None:
    toolset = Toolset.from_sources(ScriptedSource("never"))

    async def use() -> bool:
        with anyio.move_on_after(0.05) as scope:
            await toolset.aopen()
        return scope.cancelled_caught

    started = time.monotonic()
    assert asyncio.run(use())
    assert time.monotonic() - started < SECONDS
    toolset.close()


def test_a_tool_may_use_the_toolset_that_it_is_in() -> None:
    def twice(one: int) -> str:
        """Add a number to itself."""
        return toolset.call(session, "add", {"one": one, "two": one}).text

    with Toolset.from_sources(add, twice) as toolset:
        session = enabled(toolset, "add", "twice")
        assert toolset.call(session, "twice", {"one": 4}).text == "8"


# --- sources that come and go


def test_a_source_that_is_slow_to_start_joins_later() -> None:
    slow = ScriptedSource("slow")
    with Toolset.from_sources(clock, slow, limits=QUICK) as toolset:
        assert listed(toolset) == ("clock",)
        assert toolset.status()["sources"]["slow"]["status"] == "connecting"
        slow.push(ready(ScriptedTool("t")))
        until(lambda: toolset.knows("slow__t"))
        assert listed(toolset) == ("clock", "slow__t")


def test_a_source_that_goes_away_keeps_its_tools_listed_but_not_enabled_anew() -> None:
    tool = ScriptedTool("t", "Do it.")
    source = ScriptedSource("s", ready(tool))
    with Toolset.from_sources(source) as toolset:
        session, block = enabled(toolset, "s__t"), toolset.prompt(ROOT)
        source.push(SourceState(status=SourceStatus.UNAVAILABLE, tools=(tool,)))
        until(lambda: not toolset.registry.available("s__t"))
        assert toolset.prompt(ROOT) == block
        (miss,) = toolset.search(Session(caller=ROOT), {"names": ["s__t"]}).misses
        assert miss.reason.value == "server_unavailable"
        assert [entry.spec.name for entry in toolset.bound(session)] == ["s__t"]
        source.push(ready(tool))
        until(lambda: toolset.registry.available("s__t"))
        assert toolset.prompt(ROOT) == block


def test_a_tool_that_has_changed_must_be_searched_for_again() -> None:
    source = ScriptedSource("s", ready(ScriptedTool("t", "Read.")))
    with Toolset.from_sources(source) as toolset:
        session = enabled(toolset, "s__t")
        source.push(ready(ScriptedTool("t", "Delete.")))
        until(lambda: "Delete." in toolset.prompt(ROOT))
        with pytest.raises(ToolNotEnabledError):
            toolset.call(session, "s__t", {})
        again = toolset.search(session, {"names": ["s__t"]})
        assert [tool.name for tool in again.enabled] == ["s__t"]
        assert toolset.call(toolset.called(again.session, ["s__t"]), "s__t", {}) == ToolResult()


def test_tools_that_clash_later_leave_what_was_there(caplog: pytest.LogCaptureFixture) -> None:
    source = ScriptedSource("mine", ready(ScriptedTool("t")), tier=Tier.CODE)
    with Toolset.from_sources(clock, source) as toolset, caplog.at_level(logging.ERROR):
        assert listed(toolset) == ("clock", "t")
        source.push(ready(ScriptedTool("u"), ScriptedTool("u")))
        until(lambda: "the last ones stay" in caplog.text)
        assert listed(toolset) == ("clock", "t")
        source.push(ready(ScriptedTool("u")))
        until(lambda: listed(toolset) == ("clock", "u"))


def test_an_error_of_the_developers_in_a_source_stops_the_start_and_leaves_no_thread() -> None:
    source = ScriptedSource("s", ConfigurationError("no such file"))
    with pytest.raises(ConfigurationError, match="no such file"), Toolset.from_sources(source):
        pytest.fail("it must not open")
    assert not loops()


def test_a_source_that_fails_unexpectedly_costs_only_itself() -> None:
    source = ScriptedSource("s", LookupError("x"))
    with Toolset.from_sources(clock, source) as toolset:
        assert listed(toolset) == ("clock",)
        assert toolset.status()["sources"]["s"] == {
            "tier": "mcp",
            "status": "unavailable",
            "tools": 0,
            "reason": "it stopped with an unexpected LookupError",
        }


# --- plugins


class Audit:
    """Notes whatever it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[Any, ...]] = []

    def note(self, *event: Any) -> None:
        self.told.append(event)

    @hookimpl
    def deferred_tools_searched(self, caller: Caller, query: str, found: tuple[str, ...]) -> None:
        self.note("searched", caller.kind.value, query, found)

    @hookimpl
    def deferred_tools_enabled(self, caller: Caller, names: tuple[str, ...]) -> None:
        self.note("enabled", caller.kind.value, names)

    @hookimpl
    def deferred_tools_called(self, caller: Caller, name: str, result: ToolResult) -> None:
        self.note("called", caller.kind.value, name, result.text)

    @hookimpl
    def deferred_tools_refused(self, caller: Caller, name: str, error: Exception) -> None:
        self.note("refused", caller.kind.value, name, type(error).__name__)

    @hookimpl
    def deferred_tools_source_changed(self, source: str, state: SourceState) -> None:
        self.note("source", source, state.status.value)


class Breaks(Audit):
    """Fails whenever it is told something."""

    def note(self, *event: Any) -> None:
        raise LookupError("no disk")


def test_observers_are_told_of_every_event_and_one_that_fails_costs_nothing() -> None:
    audit = Audit()
    with Toolset.from_sources(clock, add, plugins=[Breaks(), audit]) as toolset:
        session = toolset.search(Session(caller=ROOT), {"query": "tell the time"}).session
        toolset.search(session, {"names": ["clock"]})
        toolset.call(session, "clock", {})
        for name, arguments in (("clock", {"zone": 5}), ("add", {}), ("none", {})):
            with pytest.raises((InvalidArgumentsError, ToolNotEnabledError, UnknownToolError)):
                toolset.call(session, name, arguments)
    assert audit.told == [
        ("source", "functions", "ready"),
        ("searched", "root", "tell the time", ("clock",)),
        ("enabled", "root", ("clock",)),
        ("searched", "root", "", ("clock",)),
        ("called", "root", "clock", "noon UTC"),
        ("refused", "root", "clock", "InvalidArgumentsError"),
        ("refused", "root", "add", "ToolNotEnabledError"),
        ("refused", "root", "none", "UnknownToolError"),
    ]


class Extends:
    """Registers one of everything."""

    @hookimpl
    def deferred_tools_sources(self) -> Iterable[Source]:
        return [ScriptedSource("plugin", ready(ScriptedTool("t", "Do it.")))]

    @hookimpl
    def deferred_tools_policies(self) -> Iterable[Policy]:
        return [Grants([Grant(tools=("clock", "plugin__*"))])]

    @hookimpl
    def deferred_tools_retrievers(self) -> Mapping[str, Callable[[], Retriever]]:
        return {"first": First}

    @hookimpl
    def deferred_tools_tags(self, spec: ToolSpec) -> Iterable[ToolTag]:
        return [ToolTag.EGRESS] if spec.source == "plugin" else []

    @hookimpl
    def deferred_tools_aliases(self, spec: ToolSpec) -> Iterable[str]:
        return [f"alias of {spec.tool}"]


class First:
    """Finds the first tool, whatever is asked."""

    def __init__(self) -> None:
        self.specs: Sequence[ToolSpec] = ()

    def index(self, specs: Sequence[ToolSpec]) -> None:
        self.specs = specs

    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        names = [s.name for s in self.specs if within is None or s.name in within]
        return [Hit(name, 1.0) for name in names[:1]]


def test_a_plugin_adds_sources_policies_retrievers_tags_and_aliases() -> None:
    with Toolset.from_sources(add, clock, plugins=[Extends()], retriever="first") as toolset:
        assert listed(toolset) == ("add", "clock", "plugin__t")
        assert [s.name for s in toolset.catalog(ROOT).all()] == ["clock", "plugin__t"]
        outcome = toolset.search(Session(caller=ROOT), {"query": "zzqx"})
        assert [tool.name for tool in outcome.enabled] == ["clock"]
        spec = toolset.registry.tools["plugin__t"].spec
        assert spec.tags == {ToolTag.EGRESS}
        assert spec.aliases == ("alias of t",)


@pytest.mark.parametrize(
    "hook", ["sources", "policies", "retrievers", "tags", "aliases"]
)  # fmt: skip
def test_a_plugin_that_fails_while_it_registers_stops_the_start_and_is_named(hook: str) -> None:
    def fails() -> None:
        raise LookupError("no disk")

    name = f"deferred_tools_{hook}"
    plugin = type("Faulty", (), {name: staticmethod(hookimpl(fails))})()
    with (
        pytest.raises(PluginError, match=f"'Faulty' failed in {name}: no disk"),
        Toolset.from_sources(
            clock, plugins=[plugin], retriever="plugged" if hook == "retrievers" else "keyword"
        ),
    ):
        pytest.fail("it must not open")
    assert not loops()


def test_the_status_tells_why_a_simpler_search_answers() -> None:
    def fail(texts: list[str]) -> list[list[float]]:
        raise OSError

    def greet(name: str) -> str:
        """Say hello."""
        return name

    with Toolset.from_sources([greet], retriever=hybrid(Vectors(fail))) as toolset:
        outcome = toolset.search(Session(caller=Caller.root()), {"query": "say hello"})
        assert [tool.name for tool in outcome.enabled] == ["greet"]
        (warning,) = toolset.status()["warnings"]
    assert warning.startswith("A simpler search answers: ")
    assert "OSError" in warning
