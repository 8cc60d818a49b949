"""What is wrong with each server and its tools, and what to do about it. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from deferred_tools.lint import descriptions, names, parameters, schemas
from deferred_tools.lint.finding import Finding, Severity
from deferred_tools.registered import SourceView
from deferred_tools.registry import Registry
from deferred_tools.sources.base import SourceStatus

SLOW_SECONDS = 10.0
"""What takes longer to start is told: an agent waits for it, or begins without its tools."""
_CHECKS = (names.check, parameters.check, schemas.check, descriptions.check)
_RULES = {
    rule
    for rule in (*names.RULES, *parameters.RULES, *schemas.RULES, *descriptions.RULES)
    if rule.severity is Severity.ERROR or rule in schemas.RULES
}
_CURES = {
    SourceStatus.CONNECTING: "Run its command by hand and see what it waits for.",
    SourceStatus.UNAVAILABLE: "Put right what it says, or run its command by hand to see more.",
    SourceStatus.FAILED: "Put right what it says, or run its command by hand to see more.",
    SourceStatus.AUTH_REQUIRED: "It can be reached: nothing but credentials is missing.",
}
_LEFT_OUT = "Tell those who make the server; its other tools are not affected."
_SLOW = (
    "Install it once and name its program in `command`: npx and uvx may fetch it at every start. "
    "What is slower than `Limits.startup_seconds` joins later."
)
_EMPTY = "See whether it wants credentials or arguments, and what `allow` and `deny` leave of it."
_CLASH = "Give one of the servers another `namespace`."


class Start(NamedTuple):
    """How a server started, as seen from outside."""

    seconds: float | None = None
    """Until it settled; None if it has not."""
    protocol: str = ""
    """The version of MCP that it speaks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong, and the cure."""

    severity: Severity
    code: str
    problem: str
    cure: str
    tool: str = ""
    """The tool's own name; "" if it is about the server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """One server after the check."""

    server: str
    status: str
    seconds: float | None
    protocol: str
    tools: int
    problems: tuple[Problem, ...]

    @property
    def failed(self) -> bool:
        """Whether it, or one of its tools, does not work."""
        return any(problem.severity is Severity.ERROR for problem in self.problems)


def diagnose(registry: Registry, starts: dict[str, Start]) -> list[Checked]:
    """Each server of `registry`, with all that is wrong with it, errors first."""
    findings = _findings(registry)
    return [
        _checked(view, starts.get(view.name, Start()), findings.get(view.name, ()))
        for view in registry.sources.values()
    ]


def clashes(registry: Registry) -> list[Problem]:
    """What is wrong between servers: names of tools that meet."""
    views = registry.sources.values()
    of_one = {warning for view in views for warning in view.state.warnings}
    starts = tuple(f"{view.name}: {view.state.status.value}: " for view in views)
    return [
        Problem(severity=Severity.WARNING, code="name-clash", problem=warning, cure=_CLASH)
        for warning in registry.warnings
        if warning not in of_one and not warning.startswith(starts)
    ]


def _findings(registry: Registry) -> dict[str, list[Finding]]:
    found: dict[str, list[Finding]] = {}
    for check in _CHECKS:
        for finding in check(registry.specs):
            if finding.rule in _RULES:
                found.setdefault(finding.server, []).append(finding)
    return found


def _checked(view: SourceView, start: Start, findings: Iterable[Finding]) -> Checked:
    problems = [*_of_server(view, start), *map(_of_tool, findings)]
    problems.sort(key=lambda problem: problem.severity is not Severity.ERROR)
    return Checked(
        server=view.name,
        status=view.state.status.value,
        seconds=start.seconds,
        protocol=start.protocol,
        tools=len(view.state.tools),
        problems=tuple(problems),
    )


def _of_server(view: SourceView, start: Start) -> Iterator[Problem]:
    state = view.state
    error, warning = Severity.ERROR, Severity.WARNING
    if state.status in _CURES:
        why = state.reason or "it was not ready in time"
        cure = _CURES[state.status]
        yield Problem(severity=error, code=state.status.value, problem=why, cure=cure)
    for told in state.warnings:
        yield Problem(severity=error, code="listing", problem=told, cure=_LEFT_OUT)
    if start.seconds is not None and start.seconds > SLOW_SECONDS:
        slow = f"it took {start.seconds:.0f} s to start"
        yield Problem(severity=warning, code="slow-start", problem=slow, cure=_SLOW)
    if state.status is SourceStatus.READY and not state.tools:
        yield Problem(severity=warning, code="no-tools", problem="it lists no tool", cure=_EMPTY)


def _of_tool(finding: Finding) -> Problem:
    return Problem(
        severity=finding.rule.severity,
        code=finding.rule.code,
        problem=finding.problem,
        cure=finding.rule.suggestion,
        tool=finding.tool,
    )
