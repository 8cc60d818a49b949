"""What a plugin may do. Hooks that register are asked once, hooks that observe are told.

    import deferred_tools

    class Audit:
        @deferred_tools.hookimpl
        def deferred_tools_called(self, caller, name, result): ...

    toolset = Toolset.from_sources(..., plugins=[Audit()])

Hooks are synchronous and run where the event happens, so they must be quick. To wrap a
call, wrap the `Tool`. A registering hook that fails stops the start with a `PluginError`; an
observing hook that fails is logged and costs nothing else.
"""

from collections.abc import Callable, Iterable, Mapping

import pluggy

from deferred_tools.policy import Caller, Policy
from deferred_tools.retrievers.base import Retriever
from deferred_tools.sources.base import Source, SourceState, ToolResult
from deferred_tools.spec import ToolSpec, ToolTag

PROJECT = "deferred_tools"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)

# The bodies are empty on purpose: pluggy reads names and signatures.
# ruff: noqa: ARG001


@hookspec
def deferred_tools_sources() -> Iterable[Source]:
    """Registers sources besides those that the application gave."""
    return ()


@hookspec
def deferred_tools_retrievers() -> Mapping[str, Callable[[], Retriever]]:
    """Registers retrievers by name, for `Toolset(retriever="name")`."""
    return {}


@hookspec
def deferred_tools_policies() -> Iterable[Policy]:
    """Registers policies. Each can only take reach away: all must say True."""
    return ()


@hookspec
def deferred_tools_tags(spec: ToolSpec) -> Iterable[ToolTag]:
    """Registers tags of a tool, in addition to those it has."""
    return ()


@hookspec
def deferred_tools_aliases(spec: ToolSpec) -> Iterable[str]:
    """Registers other words that people use for a tool; they are searched too."""
    return ()


@hookspec
def deferred_tools_searched(caller: Caller, query: str, found: tuple[str, ...]) -> None:
    """Observes a search: `found` are the names that matched and may be used."""


@hookspec
def deferred_tools_enabled(caller: Caller, names: tuple[str, ...]) -> None:
    """Observes tools that were not enabled before and now are."""


@hookspec
def deferred_tools_called(caller: Caller, name: str, result: ToolResult) -> None:
    """Observes a call that ran, failed results included."""


@hookspec
def deferred_tools_refused(caller: Caller, name: str, error: Exception) -> None:
    """Observes a call that was refused or did not end: the tool's result never came."""


@hookspec
def deferred_tools_source_changed(source: str, state: SourceState) -> None:
    """Observes every new state of a source."""
