"""A name becomes a tool, or the error that says what to do instead. The gate before each call."""

from deferred_tools.errors import (
    ApprovalNeededError,
    ToolNotEnabledError,
    ToolRefusedError,
    UnknownToolError,
)
from deferred_tools.registered import RegisteredTool
from deferred_tools.registry import Registry
from deferred_tools.session import Session
from deferred_tools.settings import Trifecta
from deferred_tools.spec import ToolSpec
from deferred_tools.trifecta import completes, reason


def resolve(name: str, *, registry: Registry, session: Session, limit: int) -> RegisteredTool:
    """The enabled tool that `session` may call as `name`.

    Raises:
        UnknownToolError: There is no such tool, or none that this caller may know of.
        ToolRefusedError: It cannot be called by anybody, or would complete the trifecta.
        ToolNotEnabledError: It was not enabled here, or has changed since it was.
    """
    entry = registry.get(name)
    if entry is None:
        absent = registry.missing(name)
        if absent is not None and registry.gate.allows(session.caller, absent.spec):
            raise ToolRefusedError(absent.spec.name, absent.hint)
        raise UnknownToolError(name)
    spec = entry.spec
    if not registry.gate.allows(session.caller, spec):
        raise UnknownToolError(name)
    if not any(e.name == spec.name and e.digest == spec.digest for e in session.enabled(limit)):
        raise ToolNotEnabledError(spec.name)
    _hold_back(registry.settings.trifecta, session, spec)
    return entry


def _hold_back(rule: Trifecta, session: Session, spec: ToolSpec) -> None:
    before = frozenset(session.exposed)
    if rule is Trifecta.OFF or session.approves(spec) or not completes(before, spec.tags):
        return
    refused = ApprovalNeededError if rule is Trifecta.ASK else ToolRefusedError
    raise refused(spec.name, reason(before, spec.tags))


def bound(*, registry: Registry, session: Session, limit: int) -> tuple[RegisteredTool, ...]:
    """The tools to bind for `session`, in first-enabled order.

    A tool that is gone, has changed, or is no longer allowed is left out.
    """
    entries = [
        entry
        for enabled in session.enabled(limit)
        if (entry := registry.tools.get(enabled.name)) is not None
        and entry.spec.digest == enabled.digest
    ]
    allowed = {s.name for s in registry.gate.visible(session.caller, (e.spec for e in entries))}
    return tuple(entry for entry in entries if entry.spec.name in allowed)
