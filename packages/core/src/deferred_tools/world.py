"""What exists at one moment, and what each caller may see of it.

Built whole in a worker thread when sources change, then swapped in by one assignment.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from deferred_tools.building.assembly import Decorate
from deferred_tools.limits import Limits
from deferred_tools.lock import ToolsLock
from deferred_tools.policy import Caller, Gate
from deferred_tools.prompt import CountTokens, render
from deferred_tools.registered import Absence, SourceView
from deferred_tools.registry import Registry
from deferred_tools.retrievers.base import Retriever
from deferred_tools.settings import OnUnreachable, Settings
from deferred_tools.sources.base import Identified, Source, SourceState
from deferred_tools.spec import ToolSpec, ToolSummary
from deferred_tools.summaries import summaries
from deferred_tools.workflows import Workflow

_VIEWS = 64
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class View:
    """What one caller may see: everything here is made of that alone.

    The index too: how rare a word is among tools that do not exist for a caller must not change
    what it finds. And the summaries: which sentence tells a tool apart must not tell of others.
    """

    specs: tuple[ToolSpec, ...]
    builder: "WorldBuilder"

    @cached_property
    def by_name(self) -> Mapping[str, ToolSpec]:
        """The specs by name."""
        return {spec.name: spec for spec in self.specs}

    @cached_property
    def retriever(self) -> Retriever:
        """The specs, ready to be searched."""
        retriever = self.builder.make_retriever()
        retriever.index(self.specs)
        return retriever

    @cached_property
    def summaries(self) -> Mapping[str, ToolSummary]:
        """Level 1 by name, in order."""
        return {tool.name: tool for tool in summaries(self.specs, self.builder.limits)}

    @cached_property
    def block(self) -> str:
        """The level-1 block."""
        shown = tuple(self.summaries.values())
        budget = self.builder.limits.prompt_tokens
        return render(shown, budget=budget, count_tokens=self.builder.count_tokens)


class Views:
    """The views of one set of tools, made as they are asked for; the latest are kept."""

    def __init__(self, specs: tuple[ToolSpec, ...], builder: "WorldBuilder") -> None:
        self.specs = specs
        by_name = {spec.name: spec for spec in specs}

        @lru_cache(maxsize=_VIEWS)
        def of_names(names: tuple[str, ...]) -> View:
            return View(tuple(by_name[name] for name in names), builder)

        @lru_cache(maxsize=_VIEWS)
        def of_caller(gate: Gate, caller: Caller | None) -> View:
            return of_names(tuple(spec.name for spec in gate.visible(caller, specs)))

        self.everything = of_names(tuple(by_name))
        self._of_names = of_names
        self._of_caller = of_caller

    def of(self, gate: Gate, caller: Caller | None) -> View:
        """What `caller` may see now. Asks every policy that can change its mind."""
        if gate.constant:
            return self._of_caller(gate, caller)
        visible = gate.visible(caller, self.specs)
        if len(visible) == len(self.specs):
            return self.everything
        return self._of_names(tuple(spec.name for spec in visible))


@dataclass(frozen=True, slots=True)
class World:
    """A registry, and what each caller may see of it."""

    registry: Registry
    views: Views

    def view(self, caller: Caller | None) -> View:
        """What `caller` may see at this moment."""
        return self.views.of(self.registry.gate, caller)


@dataclass(frozen=True, kw_only=True)
class WorldBuilder:
    """Makes worlds of what sources have reported."""

    sources: tuple[Source, ...]
    settings: Settings
    lock: ToolsLock | None
    gate: Gate
    make_retriever: Callable[[], Retriever]
    decorate: Decorate
    limits: Limits
    count_tokens: CountTokens
    workflows: tuple[Workflow, ...] = ()

    @property
    def awaited(self) -> frozenset[str]:
        """The sources without which what the settings say cannot be checked."""
        settings = self.settings
        if settings.unreachable is OnUnreachable.FAIL:
            return frozenset(source.name for source in self.sources)
        required = (name for name, server in settings.servers.items() if server.required)
        return frozenset((*required, *(one.server for one in settings.overrides.values())))

    def build(self, states: Sequence[SourceState], previous: World | None) -> World:
        """The world as the sources have reported it; `previous` keeps names and its views.

        Raises:
            RegistryBuildError: Names or namespaces clash.
            PluginError: A plugin failed.
        """
        sources = [
            SourceView(name=source.name, tier=source.tier, state=state, identity=_identity(source))
            for source, state in zip(self.sources, states, strict=True)
        ]
        before = previous.registry if previous else None
        registry = Registry.build(
            self.settings,
            sources,
            previous=before,
            workflows=self.workflows,
            lock=self.lock,
            gate=self.gate,
            limits=self.limits,
            decorate=self.decorate,
        )
        _log_withheld(Registry() if before is None else before, registry)
        if previous and _same(registry.specs, previous.views.specs):
            return World(registry, previous.views)
        views = Views(registry.specs, self)
        # Most callers see everything: the first of them need not wait.
        _ = views.everything.retriever, views.everything.summaries
        return World(registry, views)


def _same(one: Sequence[ToolSpec], other: Sequence[ToolSpec]) -> bool:
    # Of two schemas that are equal in Python, one may have `true` where the other has 1.
    return one == other and all(a.digest == b.digest for a, b in zip(one, other, strict=True))


def _identity(source: Source) -> str:
    return source.identity if isinstance(source, Identified) else ""


def _log_withheld(before: Registry, after: Registry) -> None:
    """Leave a trace of each tool that is not as it was accepted, and of each that is again."""
    held = [
        {name: tool.why for name, tool in one.absent.items() if tool.absence is Absence.WITHHELD}
        for one in (before, after)
    ]
    for name in held[1].keys() - held[0].keys():
        logger.warning("the tool %r is withheld: %s", name, held[1][name])
    for name in (held[0].keys() - held[1].keys()) & after.tools.keys():
        logger.warning("the tool %r is as it was accepted again, and no longer withheld", name)
