"""How a contract is carried out by a server's tool, or why it is not at present."""

from collections.abc import Mapping
from dataclasses import dataclass

from deferred_tools.building.findings import Findings, nearest
from deferred_tools.building.offering import Offer
from deferred_tools.limits import Limits
from deferred_tools.mapping import CallMapping, MappingError
from deferred_tools.registered import Absence, Mapped, SourceView
from deferred_tools.settings import Override
from deferred_tools.sources.base import SourceStatus, Tool
from deferred_tools.spec import Tier


@dataclass(frozen=True, slots=True)
class Route:
    """Where a contract's calls go: to a server's tool, or nowhere for a reason."""

    tool: Tool | None = None
    mapped: Mapped | None = None
    absence: Absence = Absence.NOT_IMPLEMENTED
    why: str = ""


class Overriding:
    """Resolves overrides over what sources offer."""

    def __init__(
        self,
        offers: Mapping[tuple[str, str], Offer],
        sources: Mapping[str, SourceView],
        *,
        disabled: frozenset[str],
        limits: Limits,
        findings: Findings,
    ) -> None:
        """Take offers by source and tool, sources by their own names, and disabled names."""
        self._offers = offers
        self._sources = sources
        self._disabled = disabled
        self._limits = limits
        self._findings = findings

    def route(self, name: str, override: Override) -> Route:
        """The route of the contract `name`; all that is wrong goes to the findings."""
        mapping = self._compiled(name, override)
        found = self._target(name, override)
        if isinstance(found, Route):
            return found
        if mapping is None:
            return Route(why="its mapping does not compile")
        return Route(found.tool, Mapped(override, mapping, found.spec, self._limits))

    def _compiled(self, name: str, override: Override) -> CallMapping | None:
        wrong = False
        for role, args, result in (
            ("args", override.args, None),
            ("result", None, override.result),
        ):
            try:
                CallMapping.compile(args, result, self._limits)
            except MappingError as error:
                wrong = True
                self._findings.stop(str(error), "overrides", name, role)
        return None if wrong else CallMapping.compile(override.args, override.result, self._limits)

    def _target(self, name: str, override: Override) -> Offer | Route:
        view = self._sources.get(override.server)
        if view is None or view.tier is not Tier.MCP:
            self._findings.stop(self._no_server(override, view), "overrides", name, "server")
            return Route(why=f"its server {override.server!r} is not declared")
        if view.state.status is SourceStatus.DISABLED:
            return Route(why=f"its server {override.server!r} is switched off")
        offer = self._offers.get((override.server, override.tool))
        if offer is None:
            return self._missing(name, override, view)
        if offer.spec.name in self._disabled:
            why = f"it maps to {offer.spec.name!r}, which is disabled; to hide that tool, deny it"
            self._findings.unfit(why, "overrides", name)
            return Route(why=why)
        if offer.objection:
            return Route(absence=Absence.WITHHELD, why=f"{offer.spec.id!r}: {offer.objection}")
        return offer

    def _no_server(self, override: Override, view: SourceView | None) -> str:
        if view is not None:
            return f"{override.server!r} is not an MCP server, so no contract can be mapped to it"
        servers = [v.name for v in self._sources.values() if v.tier is Tier.MCP]
        return f"the server {override.server!r} is not declared{nearest(override.server, servers)}"

    def _missing(self, name: str, override: Override, view: SourceView) -> Route:
        if view.state.status is SourceStatus.READY:
            tools = [tool.spec.tool for tool in view.state.tools]
            why = (
                f"the server {override.server!r} does not advertise the tool {override.tool!r}"
                f"{nearest(override.tool, tools)}"
            )
            self._findings.unfit(why, "overrides", name, "tool")
            return Route(why=why)
        why = f"its server {override.server!r} cannot be reached ({view.state.status.value})"
        self._findings.warn(f"{name!r} is unavailable: {why}", "overrides", name)
        return Route(why=why)
