"""What exists at one moment: the registry, its search index and its level-1 view.

Built whole in a worker thread when sources change, then swapped in by one assignment.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Self

from deferred_tools.limits import Limits
from deferred_tools.prompt import CountTokens, render
from deferred_tools.registry import Decorate, Registry, SourceView
from deferred_tools.retrievers.base import Retriever
from deferred_tools.sources.base import Source, SourceState

_BLOCKS = 64


class World:
    """A registry with everything derived from it."""

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
        self._summaries = {spec.name: spec.summary(limits) for spec in registry.specs}

        @lru_cache(maxsize=_BLOCKS)
        def block(names: tuple[str, ...]) -> str:
            shown = [self._summaries[name] for name in names]
            return render(shown, budget=limits.prompt_tokens, count_tokens=count_tokens)

        self.block: Callable[[tuple[str, ...]], str] = block
        """The prompt block of some names; made once for each set of names that is asked for."""

    @classmethod
    def build(
        cls,
        sources: Sequence[Source],
        states: Sequence[SourceState],
        *,
        previous: "World | None",
        make_retriever: Callable[[], Retriever],
        decorate: Decorate,
        limits: Limits,
        count_tokens: CountTokens,
    ) -> Self:
        """The world as `sources` have reported it; `previous` keeps names and its index.

        Raises:
            RegistryBuildError: Names or namespaces clash.
            PluginError: A plugin failed.
        """
        views = [
            SourceView(name=source.name, tier=source.tier, state=state)
            for source, state in zip(sources, states, strict=True)
        ]
        before = previous.registry if previous else None
        registry = Registry.build(views, previous=before, limits=limits, decorate=decorate)
        if previous and before and registry.specs == before.specs:
            retriever = previous.retriever
        else:
            retriever = make_retriever()
            retriever.index(registry.specs)
        return cls(registry, retriever, limits=limits, count_tokens=count_tokens)
