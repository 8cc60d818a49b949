"""Who may reach which tool. One place, asked when listing, when enabling and at every call.

Everything here fails closed: no caller, an anonymous caller, an answer that is not `True` or
an error inside a policy all deny. Policies are pure and synchronous; they know specs and
callers, never sessions or frameworks.
"""

import logging
from collections.abc import Iterable, Sequence
from contextlib import suppress
from enum import StrEnum
from typing import Protocol, Self, runtime_checkable

from pydantic import BaseModel, ConfigDict

from deferred_tools.spec import ToolSpec

logger = logging.getLogger(__name__)


class CallerKind(StrEnum):
    """What sort of party calls."""

    ROOT = "root"
    SUBAGENT = "subagent"
    PRINCIPAL = "principal"
    ANONYMOUS = "anonymous"


class Caller(BaseModel):
    """Who calls, as the host knows it: never taken from what a model or a client sends."""

    model_config = ConfigDict(frozen=True)

    kind: CallerKind
    name: str = ""
    roles: tuple[str, ...] = ()
    """Roles of a principal, which grants may name."""
    allow: tuple[str, ...] | None = None
    """Patterns that this caller is held to whatever the policies say; None for no such bound."""

    @classmethod
    def root(cls) -> Self:
        """The application itself."""
        return cls(kind=CallerKind.ROOT)

    @classmethod
    def subagent(cls, name: str, *, allow: Iterable[str] | None = None) -> Self:
        """A helper agent; with `allow`, held to those patterns alone."""
        # Validated, so that one pattern given as text is not taken for its characters.
        return cls.model_validate({"kind": CallerKind.SUBAGENT, "name": name, "allow": allow})

    @classmethod
    def principal(cls, name: str, *, roles: Iterable[str] = ()) -> Self:
        """A user or a client; reaches only what a grant gives it."""
        return cls.model_validate({"kind": CallerKind.PRINCIPAL, "name": name, "roles": roles})

    @classmethod
    def anonymous(cls) -> Self:
        """Nobody in particular: reaches nothing."""
        return cls(kind=CallerKind.ANONYMOUS)


class Grant(BaseModel):
    """Gives tools to callers: to those of `kinds`, and of these to those with one of `roles`."""

    model_config = ConfigDict(frozen=True)

    tools: tuple[str, ...]
    """Patterns over model-facing names: `exact`, `prefix*` or `*`."""
    kinds: tuple[CallerKind, ...] = (CallerKind.ROOT, CallerKind.SUBAGENT, CallerKind.PRINCIPAL)
    roles: tuple[str, ...] = ()
    """Empty: any role, or none."""

    def covers(self, caller: Caller, name: str) -> bool:
        """Whether this grant gives `name` to `caller`."""
        return (
            caller.kind in self.kinds
            and (not self.roles or not set(self.roles).isdisjoint(caller.roles))
            and matches(self.tools, name)
        )


@runtime_checkable
class Policy(Protocol):
    """One rule about who may reach what."""

    def allows(self, caller: Caller, spec: ToolSpec) -> bool:
        """True to allow. Anything else, an exception included, denies."""
        ...


class Grants:
    """The default policy: root and sub-agents reach all, principals what they are granted."""

    def __init__(self, grants: Iterable[Grant] | None = None) -> None:
        """Take `grants`; None gives everything to root and sub-agents and nothing else."""
        everything = Grant(tools=("*",), kinds=(CallerKind.ROOT, CallerKind.SUBAGENT))
        self._grants = (everything,) if grants is None else tuple(grants)

    def allows(self, caller: Caller, spec: ToolSpec) -> bool:
        """By the grants; by its own allow list alone for a sub-agent that has one."""
        if caller.kind is CallerKind.SUBAGENT and caller.allow is not None:
            return matches(caller.allow, spec.name)
        return any(grant.covers(caller, spec.name) for grant in self._grants)


class Gate:
    """All policies together: every one must say True, and without any nothing is allowed.

    A caller's own allow list holds whatever the policies say.
    """

    def __init__(self, policies: Sequence[Policy]) -> None:
        self._policies = tuple(policies)
        self.constant = all(type(policy) is Grants for policy in self._policies)
        """Whether the answer for a caller and a tool can never change."""

    def allows(self, caller: Caller | None, spec: ToolSpec) -> bool:
        """Whether `caller` may know of and use the tool."""
        return bool(self.visible(caller, (spec,)))

    def visible(self, caller: Caller | None, specs: Iterable[ToolSpec]) -> tuple[ToolSpec, ...]:
        """Those of `specs` that exist for `caller`, in their order."""
        if caller is None or caller.kind is CallerKind.ANONYMOUS or not self._policies:
            return ()
        own = caller.allow
        left = [s for s in specs if own is None or matches(own, s.name)]
        for policy in self._policies:
            left = _allowed(policy, caller, left)
        return tuple(left)


def _allowed(policy: Policy, caller: Caller, specs: Sequence[ToolSpec]) -> list[ToolSpec]:
    try:
        return [spec for spec in specs if policy.allows(caller, spec) is True]
    except Exception:
        logger.exception("the policy %s failed: denied where it does", type(policy).__name__)
    # Asked one by one: what it fails on is denied, and no more.
    allowed = []
    for spec in specs:
        with suppress(Exception):
            if policy.allows(caller, spec) is True:
                allowed.append(spec)
    return allowed


def matches(patterns: Iterable[str], name: str) -> bool:
    """Whether one of `patterns` (`exact`, `prefix*`, `*`) fits `name`."""
    return any(
        name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
        for pattern in patterns
    )
