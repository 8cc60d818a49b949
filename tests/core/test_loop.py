"""The background loop: sources live in it, and what one of them does costs only itself."""

import logging
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anyio
import pytest

from deferred_tools import Source, SourceState, SourceStatus, Tier
from deferred_tools.errors import ConfigurationError
from deferred_tools.limits import Limits
from deferred_tools.loop import SourceLoop
from deferred_tools.sources.base import Report
from deferred_tools.testing.sources import ScriptedSource, ScriptedTool, ready

Statuses = tuple[str, ...]
SECONDS = 5.0


class Watch:
    """A loop over sources, and what it made of their states."""

    def __init__(
        self,
        *sources: Source,
        startup_seconds: float = SECONDS,
        quiet_seconds: float = SECONDS,
        awaited: frozenset[str] = frozenset(),
        rebuild: Any = None,
    ) -> None:
        self.built: list[Sequence[SourceState]] = []
        self.heard: list[tuple[str, str]] = []
        self._news = threading.Condition()
        self._also: Callable[[Sequence[SourceState]], None] = rebuild or (lambda _: None)
        self.loop = SourceLoop(
            sources,
            rebuild=self._rebuild,
            changed=lambda name, state: self.heard.append((name, state.status.value)),
            limits=Limits(startup_seconds=startup_seconds, quiet_seconds=quiet_seconds),
            awaited=awaited,
        )

    def _rebuild(self, states: Sequence[SourceState]) -> None:
        self._also(states)
        with self._news:
            self.built.append(states)
            self._news.notify_all()

    def __enter__(self) -> "Watch":
        self.loop.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.stop(SECONDS)

    def statuses(self) -> Statuses:
        return tuple(state.status.value for state in self.built[-1])

    def until(self, *statuses: str) -> None:
        with self._news:
            assert self._news.wait_for(
                lambda: bool(self.built) and self.statuses() == statuses, SECONDS
            )


class Runs:
    """A source that is what its function does."""

    tier = Tier.MCP

    def __init__(self, name: str, run: Callable[[Report], Any]) -> None:
        self.name = name
        self._run = run

    async def run(self, report: Report, limits: Limits) -> None:
        await self._run(report)


AWAY = SourceState(status=SourceStatus.UNAVAILABLE, reason="it is away")


def test_it_is_ready_once_every_source_has_settled() -> None:
    slow = ScriptedSource("slow")
    with Watch(ScriptedSource("quick", ready()), slow) as watch:
        assert not watch.built
        slow.push(SourceState(status=SourceStatus.CONNECTING), AWAY)
        watch.loop.ready.result(SECONDS)
        assert watch.statuses() == ("ready", "unavailable")
        assert len(watch.built) == 1


def test_a_source_that_is_too_slow_joins_later() -> None:
    slow = ScriptedSource("slow")
    with Watch(ScriptedSource("quick", ready()), slow, startup_seconds=0.05) as watch:
        watch.loop.ready.result(SECONDS)
        assert watch.statuses() == ("ready", "connecting")
        slow.push(ready())
        watch.until("ready", "ready")


def test_a_silent_minority_is_not_waited_for_longer_than_is_quiet() -> None:
    quick = [ScriptedSource(name, ready()) for name in ("a", "b")]
    with Watch(ScriptedSource("mute"), *quick, quiet_seconds=0.05) as watch:
        watch.loop.ready.result(SECONDS)
        assert watch.statuses() == ("connecting", "ready", "ready")


@pytest.mark.parametrize(
    ("names", "awaited"), [(("a",), frozenset()), (("a", "b"), {"slow"})], ids=["half", "awaited"]
)
def test_half_of_them_and_those_not_to_start_without_are_waited_for(
    names: tuple[str, ...], awaited: frozenset[str]
) -> None:
    slow, quick = ScriptedSource("slow"), [ScriptedSource(name, ready()) for name in names]
    with Watch(slow, *quick, quiet_seconds=0.01, awaited=frozenset(awaited)) as watch:
        with pytest.raises(TimeoutError):
            watch.loop.ready.result(0.2)
        slow.push(ready())
        watch.loop.ready.result(SECONDS)
        assert watch.statuses() == ("ready",) * (1 + len(names))


def test_without_sources_it_is_ready_at_once() -> None:
    with Watch() as watch:
        watch.loop.ready.result(SECONDS)
        assert watch.built == [()]


def test_every_state_is_told_and_changes_while_building_are_built_together() -> None:
    building, go_on = threading.Event(), threading.Event()

    def rebuild(_: object) -> None:
        building.set()
        assert go_on.wait(SECONDS)

    source = ScriptedSource("s", ready())
    with Watch(source, rebuild=rebuild) as watch:
        assert building.wait(SECONDS)
        for _ in range(20):
            source.push(AWAY, ready())
        source.push(AWAY)
        assert watch.loop.portal is not None
        watch.loop.run(anyio.sleep, 0)  # the loop has played them all
        go_on.set()
        watch.until("unavailable")
        assert len(watch.built) == 2
        assert len(watch.heard) == 42


def test_an_error_of_the_developers_stops_the_start() -> None:
    error = ConfigurationError("no such file")
    with Watch(ScriptedSource("s", error), ScriptedSource("t", ready())) as watch:
        with pytest.raises(ConfigurationError) as raised:
            watch.loop.ready.result(SECONDS)
        assert raised.value is error


def test_an_error_of_the_developers_after_the_start_costs_only_its_source(
    caplog: pytest.LogCaptureFixture,
) -> None:
    source = ScriptedSource("s", ready(ScriptedTool("a")))
    with Watch(source, ScriptedSource("t", ready())) as watch, caplog.at_level(logging.ERROR):
        watch.loop.ready.result(SECONDS)
        source.push(ConfigurationError("the file is gone"))
        watch.until("unavailable", "ready")
    state = watch.built[-1][0]
    assert state.reason == "the file is gone"
    assert len(state.tools) == 1
    assert "source 's' can no longer be used" in caplog.text


@pytest.mark.parametrize("before", [(), (ready(ScriptedTool("a")),)], ids=["starting", "ready"])
def test_an_unexpected_error_costs_only_its_source_and_is_logged(
    before: tuple[SourceState, ...], caplog: pytest.LogCaptureFixture
) -> None:
    source = ScriptedSource("s", *before, LookupError("password=hunter2"))
    with Watch(source, ScriptedSource("t", ready())) as watch, caplog.at_level(logging.ERROR):
        watch.loop.ready.result(SECONDS)
        watch.until("unavailable", "ready")
    state = watch.built[-1][0]
    assert state.reason == "it stopped with an unexpected LookupError"
    assert len(state.tools) == len(before)
    assert "source 's' failed" in caplog.text


def test_a_source_that_returns_leaves_its_last_state_standing() -> None:
    async def once(report: Report) -> None:
        report(ready())

    with Watch(Runs("s", once)) as watch:
        watch.loop.ready.result(SECONDS)
        assert watch.statuses() == ("ready",)


def test_a_source_that_returns_without_a_word_does_not_keep_the_others_waiting() -> None:
    async def nothing(report: Report) -> None: ...

    with Watch(Runs("s", nothing), startup_seconds=10 * SECONDS) as watch:
        watch.loop.ready.result(SECONDS)
        assert watch.built[0][0].reason == "it ended before it had offered anything"


@pytest.mark.parametrize("error", [ConfigurationError("clash"), LookupError("index")], ids=repr)
def test_what_cannot_be_built_at_the_start_stops_it(error: Exception) -> None:
    def rebuild(_: object) -> None:
        raise error

    with (
        Watch(ScriptedSource("s", ready()), rebuild=rebuild) as watch,
        pytest.raises(ConfigurationError, match=str(error.args[0])),
    ):
        watch.loop.ready.result(SECONDS)


@pytest.mark.parametrize("error", [ConfigurationError("clash"), LookupError("index")], ids=repr)
def test_what_cannot_be_built_later_is_logged_and_the_next_may_be(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    failed = threading.Event()

    def rebuild(states: Sequence[SourceState]) -> None:
        if states[0].status is SourceStatus.UNAVAILABLE:
            failed.set()
            raise error

    source = ScriptedSource("s", ready())
    with Watch(source, rebuild=rebuild) as watch, caplog.at_level(logging.ERROR):
        watch.loop.ready.result(SECONDS)
        source.push(AWAY)
        assert failed.wait(SECONDS)
        source.push(ready(ScriptedTool("a")))
        with watch._news:
            assert watch._news.wait_for(lambda: bool(watch.built[-1][0].tools), SECONDS)
    assert "the tools could not be taken over: the last ones stay" in caplog.text


def alive(watch: Watch) -> bool:
    return watch.loop._thread.is_alive()


def test_stopping_cancels_every_source_and_ends_the_thread() -> None:
    ended: list[str] = []

    async def tidy(report: Report) -> None:
        report(ready())
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("tidy")

    with Watch(Runs("s", tidy)) as watch:
        watch.loop.ready.result(SECONDS)
        watch.loop.stop(SECONDS)
        assert ended == ["tidy"]
        assert not alive(watch)
        watch.loop.stop(SECONDS)  # again


def test_stopping_at_once_leaves_no_thread() -> None:
    for _ in range(20):
        watch = Watch(ScriptedSource("s"))
        watch.loop.start()
        watch.loop.stop(SECONDS)
        assert not alive(watch)
        with pytest.raises(ConfigurationError, match="closed while it was starting"):
            watch.loop.ready.result(0)


def test_stopping_from_inside_the_loop_does_not_wait_for_itself() -> None:
    with Watch(ScriptedSource("s", ready())) as watch:
        watch.loop.ready.result(SECONDS)

        async def stop() -> None:
            watch.loop.stop(SECONDS)

        watch.loop.run(stop)
        watch.loop._thread.join(SECONDS)
        assert not alive(watch)


def test_stopping_does_not_wait_for_what_is_being_built() -> None:
    building, go_on = threading.Event(), threading.Event()

    def rebuild(_: object) -> None:
        building.set()
        go_on.wait(SECONDS)

    with Watch(ScriptedSource("s", ready()), rebuild=rebuild) as watch:
        assert building.wait(SECONDS)
        watch.loop.stop(SECONDS)
        assert not alive(watch)
        go_on.set()


def test_a_source_that_will_not_end_is_told_and_not_waited_for_longer(
    caplog: pytest.LogCaptureFixture,
) -> None:
    go_on = threading.Event()

    async def stubborn(report: Report) -> None:
        report(ready())
        await anyio.to_thread.run_sync(go_on.wait)

    with Watch(Runs("s", stubborn)) as watch, caplog.at_level(logging.WARNING):
        watch.loop.ready.result(SECONDS)
        watch.loop.stop(0.05)
        assert "did not end within 0.05 s" in caplog.text
        go_on.set()


def test_functions_run_in_the_loop_from_any_other_thread() -> None:
    async def where() -> str:
        return threading.current_thread().name

    with Watch(ScriptedSource("s", ready())) as watch:
        watch.loop.ready.result(SECONDS)
        assert watch.loop.run(where) == "deferred-tools"


def test_what_runs_while_it_is_stopped_ends_with_an_error_that_says_so() -> None:
    running = threading.Event()

    async def hang() -> None:
        running.set()
        await anyio.sleep_forever()

    with Watch(ScriptedSource("s", ready())) as watch, ThreadPoolExecutor(1) as thread:
        watch.loop.ready.result(SECONDS)
        call = thread.submit(watch.loop.run, hang)
        assert running.wait(SECONDS)
        watch.loop.stop(SECONDS)
        with pytest.raises(ConfigurationError, match="closed while a call ran"):
            call.result(SECONDS)


def test_nothing_runs_in_a_loop_that_was_not_started() -> None:
    async def where() -> None: ...

    with pytest.raises(ConfigurationError, match="not running"):
        SourceLoop((), rebuild=print, changed=print, limits=Limits()).run(where)
