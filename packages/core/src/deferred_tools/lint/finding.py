"""What can be wrong with a tool: a rule, and a finding that holds one tool against it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from deferred_tools.spec import ToolSpec


class Severity(StrEnum):
    """How bad it is: a tool that fails or is never found, or one that could be better."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that is looked for."""

    code: str
    severity: Severity
    title: str
    """What the tools that break it are, as a heading."""
    suggestion: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A tool, or a group of tools by its first one, that breaks a rule."""

    rule: Rule
    server: str
    tool: str
    """The tool's own name."""
    name: str
    """The name that models see."""
    problem: str
    """What is wrong, without the tool's name."""
    others: tuple[str, ...] = ()
    """Names of the other tools that it is about, if any."""

    @classmethod
    def of(
        cls, rule: Rule, spec: ToolSpec, problem: str, others: Sequence[ToolSpec] = ()
    ) -> "Finding":
        """The finding that `spec` breaks `rule`."""
        return cls(
            rule=rule,
            server=spec.source,
            tool=spec.tool,
            name=spec.name,
            problem=problem,
            others=tuple(other.name for other in others),
        )
