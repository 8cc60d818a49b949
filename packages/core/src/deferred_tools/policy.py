"""Who may reach which tool. One place, asked when listing, when enabling and at every call.

Everything here fails closed: no caller, an anonymous caller, an answer that is not `True` or
an error inside a policy all deny. Policies are pure and synchronous; they know specs and
callers, never sessions or frameworks.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Protocol, Self, runtime_checkable

from pydantic import BaseModel, ConfigDict

from deferred_tools.spec import Pattern, Tier, ToolSpec

logger = logging.getLogger(__name__)


class CallerKind(StrEnum):
    """What sort of party calls."""

    ROOT = "root"
    WORKFLOW = "workflow"
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
    agent: str = ""
    """Which agent of the settings acts here: it has the tools chosen for it, and no others."""
    parent: Self | None = None
    """On whose behalf it acts: it reaches nothing that its parent does not reach."""

    @classmethod
    def root(cls) -> Self:
        """The application itself."""
        return cls(kind=CallerKind.ROOT)

    @classmethod
    def workflow(cls, name: str, *, allow: Iterable[str] | None = None) -> Self:
        """A procedure of the host's; with `allow`, held to those patterns too."""
        return cls.model_validate({"kind": CallerKind.WORKFLOW, "name": name, "allow": allow})

    @classmethod
    def subagent(cls, name: str, *, allow: Iterable[str] | None = None) -> Self:
        """A helper agent of the application's; with `allow`, held to those patterns alone."""
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

    @classmethod
    def told(cls, found: object) -> Self:
        """`found`, as a function of the host's has told it; anonymous where that is no caller."""
        if isinstance(found, cls):
            return found
        if found is not None:
            logger.error("%s is not a Caller: treated as anonymous", type(found).__name__)
        return cls.anonymous()

    def child(self, name: str, *, allow: Iterable[str] | None = None, agent: str = "") -> Self:
        """A helper agent of this caller: whatever it is given, it reaches no more than this one."""
        given = {"kind": CallerKind.SUBAGENT, "name": name, "allow": allow, "agent": agent}
        return self.model_validate({**given, "parent": self})

    @property
    def lineage(self) -> Iterator[Self]:
        """This caller, and all on whose behalf it acts."""
        link: Self | None = self
        while link is not None:
            yield link
            link = link.parent


class Grant(BaseModel):
    """Gives tools to callers: to those of `kinds`, and of these to those with one of `roles`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    tools: tuple[Pattern, ...]
    """Patterns over model-facing names."""
    kinds: tuple[CallerKind, ...] = (
        CallerKind.ROOT,
        CallerKind.WORKFLOW,
        CallerKind.SUBAGENT,
        CallerKind.PRINCIPAL,
    )
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


class AgentTools(BaseModel):
    """The tools that one agent may have, by tier: patterns over model-facing names."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    contracts: tuple[Pattern, ...] = ("*",)
    code: tuple[Pattern, ...] = ("*",)
    mcp: tuple[Pattern, ...] = ("*",)

    def selects(self, spec: ToolSpec) -> bool:
        """Whether the tool is one of them."""
        patterns = {Tier.CONTRACT: self.contracts, Tier.CODE: self.code, Tier.MCP: self.mcp}
        return matches(patterns[spec.tier], spec.name)


class AgentPolicy:
    """Holds each caller that names its agent to the tools chosen for that agent."""

    def __init__(self, agents: Mapping[str, AgentTools]) -> None:
        """Take the agents by name; one that is not among them has no tools."""
        self._agents = dict(agents)

    def allows(self, caller: Caller, spec: ToolSpec) -> bool:
        """By the agent's selection; a caller that names no agent is not held to any."""
        if not caller.agent:
            return True
        chosen = self._agents.get(caller.agent)
        return chosen is not None and chosen.selects(spec)


class Grants:
    """The default policy: grants decide, and by default principals have none."""

    def __init__(self, grants: Iterable[Grant] | None = None) -> None:
        """Take `grants`; None gives everything to root, workflows and sub-agents."""
        own = (CallerKind.ROOT, CallerKind.WORKFLOW, CallerKind.SUBAGENT)
        everything = Grant(tools=("*",), kinds=own)
        self._grants = (everything,) if grants is None else tuple(grants)

    def allows(self, caller: Caller, spec: ToolSpec) -> bool:
        """By the grants; by its own allow list alone for a sub-agent that has one."""
        if caller.kind is CallerKind.SUBAGENT and caller.allow is not None:
            return matches(caller.allow, spec.name)
        return any(grant.covers(caller, spec.name) for grant in self._grants)


class Gate:
    """All policies together: every one must say True, and without any nothing is allowed.

    A caller's own allow list holds whatever the policies say, and so does what the callers reach
    on whose behalf it acts.
    """

    def __init__(self, policies: Sequence[Policy]) -> None:
        self._policies = tuple(policies)
        self.constant = all(type(policy) in {Grants, AgentPolicy} for policy in self._policies)
        """Whether the answer for a caller and a tool can never change."""

    def allows(self, caller: Caller | None, spec: ToolSpec) -> bool:
        """Whether `caller` may know of and use the tool."""
        return bool(self.visible(caller, (spec,)))

    def visible(self, caller: Caller | None, specs: Iterable[ToolSpec]) -> tuple[ToolSpec, ...]:
        """Those of `specs` that exist for `caller`, in their order."""
        if caller is None or not self._policies:
            return ()
        left = list(specs)
        for link in caller.lineage:
            if link.kind == CallerKind.ANONYMOUS:
                return ()
            if link.allow is not None:
                left = [spec for spec in left if matches(link.allow, spec.name)]
            for policy in self._policies:
                left = _allowed(policy, link, left)
        return tuple(left)


def _allowed(policy: Policy, caller: Caller, specs: Sequence[ToolSpec]) -> list[ToolSpec]:
    allowed, failed = [], False
    for spec in specs:
        try:
            if policy.allows(caller, spec) is True:
                allowed.append(spec)
        except Exception:
            if not failed:
                name = type(policy).__name__
                logger.exception("the policy %s failed: denied where it does", name)
            failed = True
    return allowed


def matches(patterns: Iterable[str], name: str) -> bool:
    """Whether one of `patterns` (`exact`, `prefix*`, `*`) fits `name`."""
    return any(
        name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
        for pattern in patterns
    )
