"""Which tools exist and under which names, who may call them, and where a call goes.

Built whole from what the sources have reported; a new report means a new registry. Knows
nothing of conversations or ranking.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from deferred_tools.building.assembly import Assembly, Decorate, Given, as_it_is
from deferred_tools.checking import check_arguments, result_problems
from deferred_tools.errors import RegistryBuildError, UnknownToolError
from deferred_tools.limits import Limits
from deferred_tools.lock import ToolsLock
from deferred_tools.policy import AgentPolicy, AgentTools, Caller, Gate, Grants, Policy
from deferred_tools.registered import AbsentTool, RegisteredTool, Route, SourceView
from deferred_tools.settings import Settings
from deferred_tools.sources.base import SourceStatus, ToolResult
from deferred_tools.spec import Tier, ToolSpec, ToolTag
from deferred_tools.status import status_of
from deferred_tools.workflows import Workflow


@dataclass(frozen=True)
class Registry:
    """Every tool that can be called, by name, in registration order."""

    tools: Mapping[str, RegisteredTool] = field(default_factory=dict)
    absent: Mapping[str, AbsentTool] = field(default_factory=dict)
    """By name, those that are known and that nobody can call, each with the reason."""
    sources: Mapping[str, SourceView] = field(default_factory=dict)
    """By namespace."""
    warnings: tuple[str, ...] = ()
    """Non-fatal findings: collisions, dropped tools, sources that are away."""
    gate: Gate = field(default_factory=lambda: gate_of(Settings()))
    """Who may reach what."""
    settings: Settings = field(default_factory=Settings)

    @classmethod
    def build(
        cls,
        settings: Settings,
        sources: Sequence[SourceView],
        *,
        previous: "Registry | None" = None,
        workflows: Sequence[Workflow] = (),
        lock: ToolsLock | None = None,
        gate: Gate | None = None,
        limits: Limits | None = None,
        decorate: Decorate = as_it_is,
    ) -> "Registry":
        """Name every tool and check the whole.

        Args:
            settings: What the host decides.
            sources: What each source has reported.
            previous: The registry that this one follows. A tool that it named keeps its name, and
                what does not fit any more costs one tool where at the start it costs all.
            workflows: The host's procedures.
            lock: The tools that were accepted; a tool of a server that is another is withheld.
            gate: Who may reach what (default: as the settings say).
            limits: Bounds.
            decorate: May add tags and aliases to a spec.

        Raises:
            RegistryBuildError: With every finding that should stop the start.
        """
        given = Given(
            settings=settings,
            workflows=tuple(workflows),
            lock=lock,
            limits=limits or Limits(),
            decorate=decorate,
        )
        before = cls() if previous is None else previous  # an empty one is false
        specs = (*before.specs, *(absent.spec for absent in before.absent.values()))
        made = Assembly(
            given,
            sources,
            before=before.tools,
            held={spec.id: spec.name for spec in specs},
            strict=previous is None,
        )
        made.run()
        if made.findings.problems:
            raise RegistryBuildError(made.findings.problems)
        warnings = tuple(made.findings.warnings)
        gate = gate or gate_of(settings)
        return cls(made.tools, made.absent, made.sources, warnings, gate, settings)

    # --- what there is

    def get(self, name: str) -> RegisteredTool | None:
        """The tool of that name or qualified id, or None."""
        if name in self.absent:  # it is ours, though a server's tool may have it for its id
            return None
        return self.tools.get(name) or self._by_id.get(name)

    def missing(self, name: str) -> AbsentTool | None:
        """The tool of that name or qualified id that is known but cannot be called, or None."""
        found = (tool for tool in self.absent.values() if name in (tool.spec.name, tool.spec.id))
        return next(found, None)

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
        return self.sources[self.tools[name].source].state.status is SourceStatus.READY

    def route(self, name: str) -> Route | None:
        """Where a call goes; None if it is unknown, disabled, withheld or not implemented."""
        entry = self.get(name)
        return entry.route if entry else None

    def tags_of(self, names: Iterable[str]) -> frozenset[ToolTag]:
        """What the tools of these names can do together; unknown ones can do nothing."""
        entries = (self.get(name) for name in names)
        return frozenset[ToolTag]().union(*(entry.spec.tags for entry in entries if entry))

    def status(self) -> dict[str, Any]:
        """A JSON view for hosts: see `status.status_of`."""
        return status_of(self.tools.values(), self.absent.values(), self.sources, self.warnings)

    # --- who may call it

    def allowed(self, caller: Caller | None, name: str) -> bool:
        """Whether `caller` may call it. What cannot be called is refused whoever asks."""
        entry = self.get(name)
        return entry is not None and self.gate.allows(caller, entry.spec)

    def specs_for(
        self, caller: Caller | None, select: AgentTools | None = None
    ) -> tuple[ToolSpec, ...]:
        """What exists for `caller`, in registration order; of that only what `select` names."""
        visible = self.gate.visible(caller, self.specs)
        return tuple(spec for spec in visible if select is None or select.selects(spec))

    # --- what a call is made of

    def validate_args(self, name: str, arguments: Any) -> dict[str, Any]:
        """`arguments` as the tool takes them: what was written as text is read, where it can be.

        Raises:
            UnknownToolError: It cannot be called.
            InvalidArgumentsError: They do not fit its input schema.
        """
        fitted = check_arguments(self._known(name), arguments, coerce=self.settings.coerce)
        value: dict[str, Any] = fitted.value
        return value

    def validate_result(self, name: str, structured: Any) -> tuple[str, ...]:
        """What in a structured result does not fit the output schema; () without one.

        Raises:
            UnknownToolError: It cannot be called.
        """
        return result_problems(self._known(name), structured)

    def map_args(
        self, name: str, arguments: Mapping[str, Any], context: Mapping[str, Any]
    ) -> dict[str, Any]:
        """The arguments for the server's tool that carries out a contract; else as they are.

        Raises:
            UnknownToolError: It cannot be called.
            MappingError: The mapping does not take them.
        """
        mapped = self._known(name).mapped
        return mapped.mapping.map_args(arguments, context) if mapped else dict(arguments)

    def map_result(self, name: str, result: ToolResult) -> Any:
        """The output of a contract, from what the server's tool gave; else its structured content.

        Raises:
            UnknownToolError: It cannot be called.
            MappingError: The mapping does not take it.
        """
        mapped = self._known(name).mapped
        return mapped.mapping.map_result(result) if mapped else result.structured

    def _known(self, name: str) -> RegisteredTool:
        entry = self.get(name)
        if entry is None:
            raise UnknownToolError(name)
        return entry

    def __len__(self) -> int:
        return len(self.tools)

    def __iter__(self) -> Iterator[RegisteredTool]:
        return iter(self.tools.values())

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.get(name) is not None


def gate_of(
    settings: Settings, policies: Iterable[Policy] | None = None, rules: Iterable[Policy] = ()
) -> Gate:
    """The gate of settings, of the host's own `policies`, and of the `rules` of plugins.

    The settings' grants are the default policy. Where there is none at all, nothing is allowed.
    """
    by_default = policies is None or settings.grants is not None
    granted = (Grants(settings.grants),) if by_default else ()
    found = (*(policies or ()), *granted, *rules)
    return Gate((*found, AgentPolicy(settings.agents)) if found else ())
