"""The background event loop that sources live in: one daemon thread, one task per source.

So that a connection outlives any single `invoke`, and can be used from every loop and thread.
Knows sources and their states; nothing of names, policy or search.
"""

import logging
import math
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from typing import Any

import anyio
import anyio.abc
import anyio.from_thread

from deferred_tools.errors import ConfigurationError, DeveloperError
from deferred_tools.limits import Limits
from deferred_tools.sources.base import Source, SourceState, SourceStatus

logger = logging.getLogger(__name__)


class SourceLoop:
    """Runs sources until stopped. Started once; a new one is made to start again."""

    def __init__(
        self,
        sources: Sequence[Source],
        *,
        rebuild: Callable[[Sequence[SourceState]], None],
        changed: Callable[[str, SourceState], None],
        limits: Limits,
        awaited: frozenset[str] = frozenset(),
    ) -> None:
        """Take `sources`, who is told of them, and the names of those not to start without.

        `rebuild` takes the states of all sources, in their order, whenever one has changed, and
        runs in a worker thread; `changed` hears every single state.
        """
        self._sources = tuple(sources)
        self._states = [SourceState(status=SourceStatus.CONNECTING) for _ in sources]
        self._rebuild = rebuild
        self._changed = changed
        self._limits = limits
        self._awaited = {at for at, source in enumerate(sources) if source.name in awaited}
        self._settled: set[int] = set()
        self._stopping = threading.Event()
        self.ready: Future[None] = Future()
        """Done when every source has settled or the time to start is over; holds a
        `DeveloperError` if there was one."""
        self.portal: anyio.from_thread.BlockingPortal | None = None
        self._thread = threading.Thread(target=self._main, name="deferred-tools", daemon=True)

    def start(self) -> None:
        """Start; returns at once. Wait for `ready`."""
        self._thread.start()

    def stop(self, seconds: float) -> None:
        """Cancel every source and wait for the thread, at most `seconds`. May be called twice."""
        self._stopping.set()
        if self._thread is threading.current_thread():
            # Only here when the last reference to a toolset went in the loop itself.
            self._stop.set()
            return
        if not self._thread.is_alive():  # it has ended, or lives in the process that forked us
            return
        if self.portal is not None:
            try:
                self.portal.start_task_soon(self._cancel)
            except RuntimeError:
                logger.debug("the background loop ended just now")
        self._thread.join(seconds)
        if self._thread.is_alive():
            logger.warning("the background loop did not end within %g s", seconds)

    def _main(self) -> None:
        try:
            anyio.run(self._run)
        except Exception as error:
            logger.exception("the background loop failed")
            self._fail(ConfigurationError(f"the background loop failed: {error}"))
        finally:
            self._fail(ConfigurationError("the toolset was closed while it was starting"))

    async def _run(self) -> None:
        self._dirty = anyio.Event()
        self._stop = anyio.Event()
        async with anyio.from_thread.BlockingPortal() as portal:
            self.portal = portal
            if self._stopping.is_set():  # before there was a portal to say so
                self._stop.set()
            async with anyio.create_task_group() as tasks:
                for at, source in enumerate(self._sources):
                    tasks.start_soon(self._supervise, at, source)
                tasks.start_soon(self._follow)
                await self._stop.wait()
                tasks.cancel_scope.cancel()
            await portal.stop(cancel_remaining=True)

    async def _cancel(self) -> None:
        self._stop.set()

    async def _supervise(self, at: int, source: Source) -> None:
        def report(state: SourceState) -> None:
            self._states[at] = state
            if state.status is not SourceStatus.CONNECTING:
                self._settled.add(at)
            self._changed(source.name, state)
            self._dirty.set()

        try:
            await source.run(report, self._limits)
            reason = "it ended before it had offered anything"
        except DeveloperError as error:
            if not self.ready.done():
                self._fail(error)
                return
            logger.exception("source %r can no longer be used", source.name)
            reason = str(error)
        except Exception as error:
            logger.exception("source %r failed", source.name)
            reason = f"it stopped with an unexpected {type(error).__name__}"
        else:
            if at in self._settled:
                return
        kept = self._states[at].tools
        report(SourceState(status=SourceStatus.UNAVAILABLE, tools=kept, reason=reason))

    async def _follow(self) -> None:
        """Rebuild after changes: the first time when all have settled, then after each."""
        with anyio.move_on_after(self._limits.startup_seconds):
            await self._settle()
        while True:
            # Changes that come while this one is built are built together, afterwards.
            self._dirty = anyio.Event()
            try:
                await anyio.to_thread.run_sync(
                    self._rebuild, tuple(self._states), abandon_on_cancel=True
                )
            except Exception as error:  # a plugin's retriever may raise anything
                if self.ready.done():
                    logger.exception("the tools could not be taken over: the last ones stay")
                elif isinstance(error, DeveloperError):
                    self._fail(error)
                else:
                    self._fail(ConfigurationError(f"the tools cannot be used: {error!r}"))
            if not self.ready.done():
                self.ready.set_result(None)
            await self._dirty.wait()

    async def _settle(self) -> None:
        """Wait for all, or until most have settled and the others keep us waiting."""
        while (settled := len(self._settled)) < len(self._sources):
            most = 2 * settled > len(self._sources) and self._awaited <= self._settled
            with anyio.move_on_after(self._limits.quiet_seconds if most else math.inf) as quiet:
                while len(self._settled) == settled:
                    await self._next_change()
            if quiet.cancelled_caught:
                return

    async def _next_change(self) -> None:
        await self._dirty.wait()
        self._dirty = anyio.Event()

    def _fail(self, error: Exception) -> None:
        if not self.ready.done():
            self.ready.set_exception(error)

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run an async `function` in the loop and wait for it, from any other thread.

        Raises:
            ConfigurationError: The loop does not run, or was stopped meanwhile.
        """
        if self.portal is None:
            raise ConfigurationError("the background loop is not running")
        try:
            return self.portal.call(function, *args)
        except CancelledError:
            raise ConfigurationError(
                "the toolset was closed while a call ran, which may have had an effect"
            ) from None
