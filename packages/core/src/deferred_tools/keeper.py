"""Keeps a world up to date: opens at first need, follows the sources, closes, survives a fork.

Between the background loop, which knows only sources, and the Toolset, which only asks.
"""

import os
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import anyio
import anyio.to_thread

from deferred_tools.errors import ConfigurationError
from deferred_tools.loop import SourceLoop
from deferred_tools.sources.base import Source, SourceState
from deferred_tools.workflows import Workflow
from deferred_tools.world import World, WorldBuilder


class WorldKeeper:
    """The present world, for any number of threads and event loops."""

    def __init__(
        self, builder: WorldBuilder, *, changed: Callable[[str, SourceState], None]
    ) -> None:
        """Take what makes worlds; `changed` hears every state of a source, in the loop's thread."""
        self._builder = builder
        # Weak, so that a toolset nobody holds any more is closed.
        self._changed = weakref.WeakMethod(changed)
        self._lock = threading.Lock()
        self._loop: SourceLoop | None = None
        self._stop: Callable[[], object] | None = None
        self._world: World | None = None
        self._pid = os.getpid()
        self._registered = self._used = False

    @property
    def sources(self) -> tuple[Source, ...]:
        """What worlds are made of."""
        return self._builder.sources

    def register(self, workflows: Sequence[Workflow]) -> None:
        """Add workflows to every world to come.

        Raises:
            ConfigurationError: There are some already, or there was a world without them.
        """
        with self._lock:
            if self._registered or self._used:
                raise ConfigurationError(
                    "workflow tools are registered once, before the toolset is first used: what "
                    "a model can reach must not be able to add a tool"
                )
            self._registered = True
            self._builder = replace(self._builder, workflows=tuple(workflows))

    def open(self) -> None:
        """Start, and wait until there is a world.

        Raises:
            DeveloperError: There can be none as things are configured. The next use tries anew.
        """
        if not self._is_open():
            loop = self._started()
            try:
                loop.ready.result()
            except BaseException:  # interrupted, too: what has started must not stay
                self.close()
                raise

    async def aopen(self) -> None:
        """`open`, without blocking the event loop."""
        if not self._is_open():
            await anyio.to_thread.run_sync(self.open, abandon_on_cancel=True)

    def close(self) -> None:
        """Stop every source. The next use opens again."""
        with self._lock:
            stop, self._loop, self._world = self._stop, None, None
        if stop is not None:
            stop()

    async def aclose(self) -> None:
        """`close`, without blocking the event loop; done even when cancelled."""
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self.close)

    @property
    def world(self) -> World:
        """What exists at this moment; opens if need be.

        Raises:
            DeveloperError: As for `open`.
        """
        self.open()
        world = self._world
        if world is None:
            raise ConfigurationError("the toolset was closed while it was used")
        return world

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Run an async `function` in the background loop and wait for it."""
        self.open()
        return self._started().run(function, *args)

    def _is_open(self) -> bool:
        return self._world is not None and self._pid == os.getpid()

    def _started(self) -> SourceLoop:
        with self._lock:
            if self._loop is None or self._pid != os.getpid():
                # A fork has no threads: the parent's loop and world are not ours.
                self._pid, self._world = os.getpid(), None
                self._used = True
                self._loop = self._new_loop()
                self._loop.start()
                seconds = self._builder.limits.close_seconds
                self._stop = weakref.finalize(self, self._loop.stop, seconds)
            return self._loop

    def _new_loop(self) -> SourceLoop:
        me, changed_ref = weakref.ref(self), self._changed

        def rebuild(states: Sequence[SourceState]) -> None:
            if keeper := me():
                keeper._rebuild(loop, states)

        def changed(source: str, state: SourceState) -> None:
            if told := changed_ref():
                told(source, state)

        loop = SourceLoop(
            self._builder.sources,
            rebuild=rebuild,
            changed=changed,
            limits=self._builder.limits,
            awaited=self._builder.awaited,
        )
        return loop

    def _rebuild(self, loop: SourceLoop, states: Sequence[SourceState]) -> None:
        world = self._builder.build(states, self._world)
        with self._lock:
            if self._loop is loop:  # else it was closed while this was built
                self._world = world
