"""What exists at one moment: the registry, its search index and its level-1 view.

Built whole in a worker thread when sources change, then swapped in by one assignment.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from deferred_tools.limits import Limits
from deferred_tools.policy import Caller, Gate
from deferred_tools.prompt import CountTokens, render
from deferred_tools.registry import Decorate, Registry, SourceView
from deferred_tools.retrievers.base import Retriever
from deferred_tools.sources.base import Source, SourceState
from deferred_tools.spec import ToolSpec

_VIEWS = 64


@dataclass(frozen=True)
class View:
    """What one caller may see."""

    specs: tuple[ToolSpec, ...]
    render: Callable[[tuple[ToolSpec, ...]], str]

    @cached_property
    def by_name(self) -> Mapping[str, ToolSpec]:
        """The specs by name."""
        return {spec.name: spec for spec in self.specs}

    @cached_property
    def block(self) -> str:
        """The level-1 block."""
        return self.render(self.specs)


class World:
    """A registry with everything derived from it, and what each caller may see of it."""

    def __init__(
        self,
        registry: Registry,
        retriever: Retriever,
        *,
        limits: Limits,
        count_tokens: CountTokens,
    ) -> None:
        self.registry = registry
        self.retriever = retriever

        def rendered(specs: tuple[ToolSpec, ...]) -> str:
            shown = [spec.summary(limits) for spec in specs]
            return render(shown, budget=limits.prompt_tokens, count_tokens=count_tokens)

        @lru_cache(maxsize=_VIEWS)
        def of_names(names: tuple[str, ...]) -> View:
            return View(tuple(registry.tools[name].spec for name in names), rendered)

        @lru_cache(maxsize=_VIEWS)
        def of_caller(gate: Gate, caller: Caller | None) -> View:
            return of_names(tuple(s.name for s in gate.visible(caller, registry.specs)))

        self._of_names = of_names
        self._of_caller = of_caller

    def view(self, gate: Gate, caller: Caller | None) -> View:
        """What `caller` may see at this moment. Asks every policy that can change its mind."""
        if gate.constant:
            return self._of_caller(gate, caller)
        visible = gate.visible(caller, self.registry.specs)
        return self._of_names(tuple(spec.name for spec in visible))


@dataclass(frozen=True, kw_only=True)
class WorldBuilder:
    """Makes worlds of what sources have reported."""

    sources: tuple[Source, ...]
    make_retriever: Callable[[], Retriever]
    decorate: Decorate
    limits: Limits
    count_tokens: CountTokens

    def build(self, states: Sequence[SourceState], previous: World | None) -> World:
        """The world as the sources have reported it; `previous` keeps names and its index.

        Raises:
            RegistryBuildError: Names or namespaces clash.
            PluginError: A plugin failed.
        """
        views = [
            SourceView(name=source.name, tier=source.tier, state=state)
            for source, state in zip(self.sources, states, strict=True)
        ]
        before = previous.registry if previous else None
        registry = Registry.build(
            views, previous=before, limits=self.limits, decorate=self.decorate
        )
        if previous and before and registry.specs == before.specs:
            retriever = previous.retriever
        else:
            retriever = self.make_retriever()
            retriever.index(registry.specs)
        return World(registry, retriever, limits=self.limits, count_tokens=self.count_tokens)
