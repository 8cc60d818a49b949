"""Specs in, checked whole out: names, collisions, and where each tool comes from.

Built whole from what the sources have reported; a new report means a new registry. Knows
nothing of callers, sessions or ranking.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from deferred_tools.errors import RegistryBuildError
from deferred_tools.limits import Limits
from deferred_tools.sources.base import SourceState, SourceStatus, Tool
from deferred_tools.spec import Tier, ToolSpec, namespace, safe_name, suffixed
from deferred_tools.validation import CompiledSchema, compile_parameters

RESERVED = frozenset({"tool_search"})
Decorate = Callable[[ToolSpec], ToolSpec]


def _as_it_is(spec: ToolSpec) -> ToolSpec:
    return spec


@dataclass(frozen=True)
class RegisteredTool:
    """A tool under its model-facing name. `spec` is the registry's view, `tool` the original."""

    spec: ToolSpec
    tool: Tool
    limits: Limits

    @cached_property
    def parameters(self) -> CompiledSchema:
        """The schema of the arguments, compiled at the first call."""
        return compile_parameters(self.spec.parameters, self.limits)

    @cached_property
    def output(self) -> CompiledSchema | None:
        """The schema of structured results, or None without one."""
        schema = self.spec.output_schema
        return CompiledSchema(schema, self.limits) if schema else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceView:
    """One source as the registry saw it."""

    name: str
    tier: Tier
    state: SourceState


@dataclass(frozen=True)
class Registry:
    """Every tool that exists, by name, in registration order."""

    tools: Mapping[str, RegisteredTool] = field(default_factory=dict)
    sources: Mapping[str, SourceView] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    """Non-fatal findings: collisions, dropped tools, sources that are away."""

    @classmethod
    def build(
        cls,
        sources: Sequence[SourceView],
        *,
        previous: "Registry | None" = None,
        limits: Limits | None = None,
        decorate: Decorate = _as_it_is,
    ) -> "Registry":
        """Name every tool of `sources` and check the whole.

        `previous` is the registry that this one follows: a tool that it named keeps its name.
        `decorate` may add tags and aliases to a spec.

        Raises:
            RegistryBuildError: With every finding that should stop the start.
        """
        previous = previous or cls()
        names = _Names(previous, limits or Limits())
        names.check_sources(sources)
        # Where a tool comes from is what its source is, not what the tool says.
        offered = [
            (tool, replace(tool.spec, source=view.name, tier=view.tier))
            for view in sources
            for tool in view.state.tools
        ]
        named = names.assign([spec for _, spec in offered])
        if names.problems:
            raise RegistryBuildError(names.problems)
        tools: dict[str, RegisteredTool] = {}
        for (tool, plain), name in zip(offered, named, strict=True):
            if name:
                spec = decorate(replace(plain, name=name))
                known = previous.tools.get(name)
                if known and known.tool is tool and known.spec == spec:
                    tools[name] = known  # it keeps its compiled schemas
                else:
                    tools[name] = RegisteredTool(spec, tool, names.limits)
        warnings = [*(w for view in sources for w in _trouble(view)), *names.warnings]
        return cls(tools, {view.name: view for view in sources}, tuple(warnings))

    def get(self, name: str) -> RegisteredTool | None:
        """The tool of that name or qualified id, or None."""
        return self.tools.get(name) or self._by_id.get(name)

    @cached_property
    def _by_id(self) -> dict[str, RegisteredTool]:
        return {entry.spec.id: entry for entry in self.tools.values()}

    @cached_property
    def specs(self) -> tuple[ToolSpec, ...]:
        """Every spec, in registration order."""
        return tuple(entry.spec for entry in self.tools.values())

    def names(self) -> tuple[str, ...]:
        """Model-facing names, in registration order."""
        return tuple(self.tools)

    def servers(self) -> tuple[str, ...]:
        """Names of the MCP sources, in order, whether or not they can be reached."""
        return tuple(v.name for v in self.sources.values() if v.tier is Tier.MCP)

    def available(self, name: str) -> bool:
        """Whether the source of a known tool can take a call at present."""
        return self.sources[self.tools[name].spec.source].state.status is SourceStatus.READY

    def status(self) -> dict[str, Any]:
        """A JSON view for hosts: sources with state and reason, counts, warnings."""
        return {
            "tools": len(self.tools),
            "sources": {
                view.name: {
                    "tier": view.tier.value,
                    "status": view.state.status.value,
                    "tools": len(view.state.tools),
                    "reason": view.state.reason,
                }
                for view in self.sources.values()
            },
            "warnings": list(self.warnings),
        }

    def __len__(self) -> int:
        return len(self.tools)

    def __iter__(self) -> Iterator[RegisteredTool]:
        return iter(self.tools.values())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None


def _trouble(view: SourceView) -> Iterator[str]:
    if view.state.reason:
        yield f"{view.name}: {view.state.status.value}: {view.state.reason}"
    yield from view.state.warnings


class _Names:
    """Hands out model-facing names; nobody's name changes because of a newcomer."""

    def __init__(self, previous: Registry, limits: Limits) -> None:
        self.limits = limits
        self.problems: list[str] = []
        self.warnings: list[str] = []
        self._held = {entry.spec.id: entry.spec.name for entry in previous}
        self._taken: dict[str, ToolSpec] = {}

    def check_sources(self, sources: Iterable[SourceView]) -> None:
        seen: set[str] = set()
        for view in sources:
            if view.name in seen:
                self.problems.append(
                    f"two sources share the namespace {view.name!r}: give one another name"
                )
            if not view.name or view.name != namespace(view.name):
                self.problems.append(
                    f"the source name {view.name!r} cannot be a namespace: use letters, digits, "
                    "'-' and single '_' inside"
                )
            seen.add(view.name)

    def assign(self, specs: Sequence[ToolSpec]) -> list[str]:
        """A name for each of `specs`; "" for what is left out."""
        named = [""] * len(specs)
        for at in sorted(range(len(specs)), key=lambda at: self._turn(specs[at])):
            if name := self._choose(specs[at]):
                named[at] = name
                self._taken[name] = specs[at]
        return named

    def _turn(self, spec: ToolSpec) -> tuple[bool, bool, bool]:
        """Who chooses first: first-party tools, then holders, then names that need no change."""
        changed = spec.tool != safe_name(spec.tool)
        return (spec.tier is not Tier.CODE, spec.id not in self._held, changed)

    def _choose(self, spec: ToolSpec) -> str:
        wanted = self._held.get(spec.id) or self._wanted(spec)
        if spec.tier is Tier.CODE:
            return self._first_party(spec, wanted)
        rivals: list[str] = []
        for name in (wanted, suffixed(wanted, spec.id, self.limits.name_length)):
            rival = self._taken.get(name)
            if rival is None:
                if rivals:
                    self.warnings.append(
                        f"{spec.id!r} and {rivals[0]!r} share a name: the former is called {name!r}"
                    )
                return name
            if rival.id == spec.id:
                self.warnings.append(f"{spec.id!r} is listed twice: the later one is left out")
                return ""
            rivals.append(rival.id)
        # Only a server that foresees the suffix of its own tool comes here.
        self.warnings.append(
            f"{spec.id!r} has no name of its own beside {' and '.join(rivals)}: it is left out"
        )
        return ""

    def _first_party(self, spec: ToolSpec, name: str) -> str:
        rival = self._taken.get(name)
        if name in RESERVED:
            self.problems.append(
                f"a tool is named {name!r}, which is the search tool's own name: rename yours"
            )
        elif rival is not None:
            self.problems.append(
                f"two tools are named {name!r} ({rival.id!r} and {spec.id!r}): rename one"
            )
        else:
            return name
        return ""

    def _wanted(self, spec: ToolSpec) -> str:
        name = safe_name(spec.tool if spec.tier is Tier.CODE else spec.id)
        if name and len(name) <= self.limits.name_length:
            return name
        return suffixed(name, spec.id, self.limits.name_length)
