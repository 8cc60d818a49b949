"""Which tools clients see directly, under their own names. Pure.

A mistake stops the start, as all mistakes of settings do; later, when servers come and go, it
costs the tool concerned.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from deferred_tools.building.findings import nearest
from deferred_tools.gateway.definitions import DEFINITIONS
from deferred_tools.registered import Absence, RegisteredTool
from deferred_tools.registry import Registry
from deferred_tools.sources.base import SourceStatus
from deferred_tools.spec import namespace


@dataclass(frozen=True, slots=True)
class Pin:
    """A tool that somebody wants clients to see directly."""

    server: str
    tool: str
    """By its own name."""
    where: str
    """How to tell people where they wrote it."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """What pins stand for at one moment."""

    tools: Mapping[str, RegisteredTool] = field(default_factory=dict)
    """By the name that clients see: the tool's own."""
    problems: tuple[str, ...] = ()
    """Mistakes, each with its place."""
    warnings: tuple[str, ...] = ()

    @property
    def findings(self) -> tuple[str, ...]:
        """Mistakes and warnings."""
        return (*self.problems, *self.warnings)


def choose(registry: Registry, pins: Iterable[Pin]) -> Chosen:
    """Find what is pinned among the tools that exist now."""
    namespaces = _namespaces(registry)
    tools = {(entry.spec.source, entry.spec.tool): entry for entry in registry}
    found: dict[str, RegisteredTool] = {}
    problems: list[str] = []
    warnings: list[str] = []
    for pin in pins:
        key = namespaces.get(pin.server)
        if key is None:
            told = f"no server {pin.server!r} is declared{nearest(pin.server, namespaces)}"
            problems.append(f"{pin.where}: {told}")
            continue
        entry = tools.get((key, pin.tool))
        if entry is None:
            mistake, told = _missing(registry, key, pin)
            (problems if mistake else warnings).append(f"{pin.where}: {told}")
            continue
        taken = found.get(pin.tool)
        if pin.tool in DEFINITIONS or (taken is not None and taken is not entry):
            other = f"{taken.spec.source}/{taken.spec.tool}" if taken else "the gateway's own"
            told = f"{pin.tool!r} of {pin.server!r} is ambiguous: clients see the same name of"
            problems.append(f"{pin.where}: {told} {other}; pin only one of them")
            continue
        found[pin.tool] = entry
    return Chosen(found, tuple(problems), tuple(warnings))


def _namespaces(registry: Registry) -> dict[str, str]:
    """The namespace of each source, by the name that the source itself has."""
    renamed = {
        namespace(server.namespace): name
        for name, server in registry.settings.servers.items()
        if server.namespace
    }
    return {renamed.get(key, key): key for key in registry.sources}


def _missing(registry: Registry, key: str, pin: Pin) -> tuple[bool, str]:
    """Whether it is a mistake that there is no such tool, and what to say."""
    absent = next(
        (a for a in registry.absent.values() if (a.spec.source, a.spec.tool) == (key, pin.tool)),
        None,
    )
    if absent is not None:
        both = absent.absence is Absence.DISABLED
        return both, f"{pin.tool!r} of {pin.server!r} is pinned, and {absent.hint}"
    status = registry.sources[key].state.status
    if status is not SourceStatus.READY:
        return False, f"{pin.tool!r} is not there at present: {pin.server!r} is {status.value}"
    near = nearest(pin.tool, [e.spec.tool for e in registry if e.spec.source == key])
    return True, f"the server {pin.server!r} offers no tool {pin.tool!r}{near}"
