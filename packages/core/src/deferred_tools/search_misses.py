"""Why a search did not enable something, as far as the caller may know it. Pure."""

from dataclasses import dataclass
from enum import StrEnum

from deferred_tools.policy import Caller, CallerKind
from deferred_tools.registered import Absence
from deferred_tools.registry import Registry
from deferred_tools.sources.base import SourceStatus
from deferred_tools.spec import SEPARATOR, ToolSpec


class MissReason(StrEnum):
    """Why something was not enabled."""

    NO_MATCH = "no_match"
    SERVER_CONNECTING = "server_connecting"
    SERVER_UNAVAILABLE = "server_unavailable"
    AUTH_REQUIRED = "auth_required"
    DISABLED = "disabled"
    NOT_IMPLEMENTED = "not_implemented"
    WITHHELD = "withheld"
    BLOCKED_BY_POLICY = "blocked_by_policy"
    APPROVAL_NEEDED = "approval_needed"
    REPEATED = "repeated"
    LIMIT_REACHED = "limit_reached"


REFUSED = frozenset({MissReason.LIMIT_REACHED, MissReason.REPEATED})
"""Reasons for which the search itself was refused, whatever it might have found."""
_OF_SOURCE = {
    SourceStatus.CONNECTING: MissReason.SERVER_CONNECTING,
    SourceStatus.UNAVAILABLE: MissReason.SERVER_UNAVAILABLE,
    SourceStatus.FAILED: MissReason.SERVER_UNAVAILABLE,
    SourceStatus.AUTH_REQUIRED: MissReason.AUTH_REQUIRED,
    SourceStatus.DISABLED: MissReason.DISABLED,
}
_OF_ABSENCE = {
    Absence.DISABLED: MissReason.DISABLED,
    Absence.NOT_IMPLEMENTED: MissReason.NOT_IMPLEMENTED,
    Absence.WITHHELD: MissReason.WITHHELD,
}


@dataclass(frozen=True, slots=True)
class Miss:
    """Something asked for that was not enabled, why, and what to try."""

    wanted: str
    reason: MissReason
    hint: str


@dataclass(frozen=True, slots=True)
class Misses:
    """Says why, over one registry, to one caller."""

    registry: Registry
    caller: Caller

    def of_name(self, name: str) -> Miss:
        """For an exact name that the caller cannot have."""
        absent = self.registry.missing(name)
        if absent is not None and self.registry.gate.allows(self.caller, absent.spec):
            return Miss(name, _OF_ABSENCE[absent.absence], f"Nobody can use it: {absent.hint}.")
        source = name.split(SEPARATOR, 1)[0]
        view = self.registry.sources.get(source)
        if view and view.state.status in _OF_SOURCE and self._knows_all:
            return self.of_source(name, source)
        return Miss(name, MissReason.NO_MATCH, "Check it in <available_tools>, or give a `query`.")

    def of_query(self, query: str) -> Miss:
        """Nothing found; the application itself is told which servers could not be searched."""
        away = [
            f"{view.name} ({view.state.status.value})"
            for view in self.registry.sources.values()
            if view.state.status in _OF_SOURCE and view.state.status is not SourceStatus.DISABLED
        ]
        hint = "Try other words, or a name from <available_tools>."
        if away and self._knows_all:
            hint += f" These servers could not be searched in full: {', '.join(away)}."
        return Miss(query, MissReason.NO_MATCH, hint)

    def of_tool(self, spec: ToolSpec) -> Miss:
        """A tool that the caller may have, whose source is away."""
        return self.of_source(spec.name, self.registry.tools[spec.name].source)

    def of_source(self, name: str, source: str) -> Miss:
        """A name of a source, by namespace, that is away."""
        status = self.registry.sources[source].state.status
        hint = {
            SourceStatus.CONNECTING: "Its server is still starting: search again in a moment.",
            SourceStatus.AUTH_REQUIRED: "Its server wants the user to sign in first.",
            SourceStatus.DISABLED: "It was switched off by the host.",
            SourceStatus.FAILED: "Its server has failed for long: do without it, or tell the user.",
        }.get(status, "Its server cannot be reached at present: try again later.")
        return Miss(name, _OF_SOURCE[status], hint)

    @property
    def _knows_all(self) -> bool:
        """Whether the caller may know of every server: the application itself, unbounded."""
        return self.caller == Caller(kind=CallerKind.ROOT)
