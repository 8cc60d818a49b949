"""What a registry holds: tools that can be called, tools that cannot and why, sources."""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from deferred_tools.limits import Limits
from deferred_tools.mapping import CallMapping
from deferred_tools.settings import Override
from deferred_tools.sources.base import SourceState, Tool
from deferred_tools.spec import Tier, ToolSpec
from deferred_tools.validation import CompiledSchema, compile_parameters
from deferred_tools.workflows import WorkflowTool


class Route(StrEnum):
    """Where a call goes."""

    CONTRACT = "contract"
    """To a contract's own implementation, or to a workflow."""
    MAPPED = "mapped"
    """Through a mapping to an MCP server's tool."""
    CODE = "code"
    MCP = "mcp"


@dataclass(frozen=True)
class Mapped:
    """How a contract is carried out by a server's tool."""

    override: Override
    mapping: CallMapping
    target: ToolSpec
    limits: Limits

    @cached_property
    def parameters(self) -> CompiledSchema:
        """The schema of the target's arguments, compiled at the first call."""
        return compile_parameters(self.target.parameters, self.limits)


@dataclass(frozen=True)
class RegisteredTool:
    """A tool under its model-facing name. `spec` is the registry's view, `tool` what runs."""

    spec: ToolSpec
    tool: Tool
    limits: Limits
    mapped: Mapped | None = None

    @cached_property
    def parameters(self) -> CompiledSchema:
        """The schema of the arguments, compiled at the first call."""
        return compile_parameters(self.spec.parameters, self.limits)

    @cached_property
    def output(self) -> CompiledSchema | None:
        """The schema of structured results, or None without one."""
        schema = self.spec.output_schema
        return CompiledSchema(schema, self.limits) if schema else None

    def same_as(self, other: "RegisteredTool") -> bool:
        """Whether the other would say and do the same, so that this one can stay."""
        runs = self.tool is other.tool or (
            isinstance(self.tool, WorkflowTool) and self.tool == other.tool
        )
        ways = [one.mapped and (one.mapped.override, one.mapped.target) for one in (self, other)]
        return runs and self.spec == other.spec and ways[0] == ways[1]

    @property
    def route(self) -> Route:
        """Where a call goes."""
        return Route.MAPPED if self.mapped else Route(self.spec.tier.value)

    @property
    def source(self) -> str:
        """The namespace of the source that runs it."""
        return self.mapped.target.source if self.mapped else self.spec.source


class Absence(StrEnum):
    """Why a tool that is known cannot be called by anybody."""

    DISABLED = "disabled"
    NOT_IMPLEMENTED = "not_implemented"
    """A contract that nothing carries out at present, or a workflow that lacks a tool."""
    WITHHELD = "withheld"
    """It is not as it was accepted in the lock file."""


@dataclass(frozen=True, slots=True)
class AbsentTool:
    """A tool that is known, keeps its name, and cannot be called."""

    spec: ToolSpec
    absence: Absence
    why: str
    """For the host, who can do something about it."""

    @property
    def hint(self) -> str:
        """For a model, which cannot, and is not to try."""
        return {
            Absence.DISABLED: "it was switched off by the host",
            Absence.NOT_IMPLEMENTED: "nothing carries it out at present",
            Absence.WITHHELD: "it is not as the host accepted it, and is withheld until it is",
        }[self.absence]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceView:
    """One source as the registry saw it."""

    name: str
    """Its namespace."""
    tier: Tier
    state: SourceState
    identity: str = ""
    """What the source is, as a lock file knows it: see `lock`."""
