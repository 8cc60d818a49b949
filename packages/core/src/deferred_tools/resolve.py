"""A name becomes a tool, or the error that says what to do instead. The gate before each call."""

from deferred_tools.errors import ToolNotEnabledError, UnknownToolError
from deferred_tools.policy import Gate
from deferred_tools.registry import RegisteredTool, Registry
from deferred_tools.session import Session


def resolve(
    name: str, *, registry: Registry, gate: Gate, session: Session, limit: int
) -> RegisteredTool:
    """The enabled tool that `session` may call as `name`.

    Raises:
        UnknownToolError: There is no such tool, or none that this caller may know of.
        ToolNotEnabledError: It was not enabled here, or has changed since it was.
    """
    entry = registry.get(name)
    if entry is None or not gate.allows(session.caller, entry.spec):
        raise UnknownToolError(name)
    spec = entry.spec
    if not any(e.name == spec.name and e.digest == spec.digest for e in session.enabled(limit)):
        raise ToolNotEnabledError(spec.name)
    return entry


def bound(
    *, registry: Registry, gate: Gate, session: Session, limit: int
) -> tuple[RegisteredTool, ...]:
    """The tools to bind for `session`, in first-enabled order.

    A tool that is gone, has changed, or is no longer allowed is left out.
    """
    entries = [
        entry
        for enabled in session.enabled(limit)
        if (entry := registry.tools.get(enabled.name)) is not None
        and entry.spec.digest == enabled.digest
    ]
    allowed = {s.name for s in gate.visible(session.caller, (e.spec for e in entries))}
    return tuple(entry for entry in entries if entry.spec.name in allowed)
