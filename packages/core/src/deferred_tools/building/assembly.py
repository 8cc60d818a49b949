"""Puts a registry together from what settings and sources say. Pure.

At the start what does not fit stops it, all of it told at once; later, when servers come and go,
it costs the tool concerned only, with a warning.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from deferred_tools.building.findings import Findings
from deferred_tools.building.naming import Names, namespace_problems
from deferred_tools.building.offering import Offer, namespace_of, offers_of
from deferred_tools.building.overriding import Overriding, Route
from deferred_tools.building.settings_check import SettingsCheck, may_come
from deferred_tools.contracts import CONTRACTS, ContractTool, contract_tools
from deferred_tools.limits import Limits
from deferred_tools.lock import ToolsLock
from deferred_tools.policy import Caller, Grants, matches
from deferred_tools.registered import Absence, AbsentTool, RegisteredTool, SourceView
from deferred_tools.settings import ServerSettings, Settings
from deferred_tools.sources.base import SourceState, SourceStatus
from deferred_tools.spec import Tier, ToolSpec
from deferred_tools.validation import CompiledSchema, SchemaError, compile_parameters
from deferred_tools.workflows import WORKFLOWS, Workflow, WorkflowTool, problems_of, reached

Decorate = Callable[[ToolSpec], ToolSpec]
_PLAIN = ServerSettings()
_HERE = SourceState(status=SourceStatus.READY)


def as_it_is(spec: ToolSpec) -> ToolSpec:
    """Decorates nothing."""
    return spec


@dataclass(frozen=True, kw_only=True)
class Given:
    """All that a registry is made of, but its sources."""

    settings: Settings = field(default_factory=Settings)
    workflows: tuple[Workflow, ...] = ()
    lock: ToolsLock | None = None
    limits: Limits = field(default_factory=Limits)
    decorate: Decorate = as_it_is
    """May add tags and aliases to a spec."""


class Assembly:
    """One registry in the making; `findings` tell whether it may be used."""

    def __init__(
        self,
        given: Given,
        sources: Sequence[SourceView],
        *,
        before: Mapping[str, RegisteredTool],
        held: Mapping[str, str],
        strict: bool,
    ) -> None:
        """Take what it is made of, the tools there were before, and the names held by id."""
        self._given = given
        self._before = before
        self._held = held
        self._sources = tuple(sources)
        self._named: dict[str, Offer] = {}
        self.findings = Findings(given.settings, strict=strict)
        self.sources: dict[str, SourceView] = {}
        """By namespace."""
        self.tools: dict[str, RegisteredTool] = {}
        self.absent: dict[str, AbsentTool] = {}

    def run(self) -> None:
        """Fill all of it, in registration order."""
        self._take_sources()
        offers = [*self._contracts(), *self._workflows(), *self._offers()]
        self._name([offer for offer in offers if not offer.hidden])
        specs = {name: offer.spec for name, offer in self._named.items()}
        sources = {view.name: view for view in self._sources}
        disabled = SettingsCheck(self._given.settings, sources, specs, self.findings).run()
        overriding = Overriding(
            self._targets(offers),
            sources,
            disabled=disabled,
            limits=self._given.limits,
            findings=self.findings,
        )
        overrides = self._given.settings.overrides.items()
        contracts = self._given.settings.contracts
        routes = {name: overriding.route(name, o) for name, o in overrides if name in contracts}
        for name, offer in self._named.items():
            if name in disabled or self._is_off(offer.spec.source):
                self._leave_out(offer.spec, Absence.DISABLED, "it was switched off by the host")
            elif offer.objection:
                self._leave_out(offer.spec, Absence.WITHHELD, offer.objection)
                self.findings.warn(f"{name!r} is withheld: {offer.objection}")
            elif isinstance(offer.tool, ContractTool):
                self._carry_out(offer.tool, offer.spec, routes.get(name))
            elif not isinstance(offer.tool, WorkflowTool):
                self._add(RegisteredTool(offer.spec, offer.tool, self._given.limits))
        self._add_workflows()
        self.tools = {name: self.tools[name] for name in self._named if name in self.tools}

    # --- what there is

    def _take_sources(self) -> None:
        views = []
        for view in self._sources:
            if view.tier is Tier.CONTRACT:
                self.findings.stop(f"the source {view.name!r} claims the tier of the host's own")
            views.append(replace(view, name=namespace_of(view, self._server(view))))
        # Ours come first, so that it is others whose namespace is refused.
        if self._given.workflows:
            views.insert(0, SourceView(name=WORKFLOWS, tier=Tier.CONTRACT, state=_HERE))
        if self._given.settings.contracts:
            views.insert(0, SourceView(name=CONTRACTS, tier=Tier.CONTRACT, state=_HERE))
        self.findings.problems += namespace_problems(view.name for view in views)
        self.findings.warnings += [warning for view in views for warning in _trouble(view)]
        self.sources = {view.name: view for view in views}

    def _contracts(self) -> Iterator[Offer]:
        made = {name: entry.tool for name, entry in self._before.items()}
        tools, problems = contract_tools(self._given.settings.contracts, made)
        for name, problem in problems.items():
            self.findings.stop(problem, "contracts", name, "implementation")
        for tool in tools:
            self._check_schemas(tool.spec, "contracts", tool.name)
            yield Offer(tool=tool, spec=tool.spec)

    def _workflows(self) -> Iterator[Offer]:
        for problem in problems_of(self._given.workflows):
            self.findings.stop(problem)
        for tool in map(WorkflowTool, self._given.workflows):
            self._check_schemas(tool.spec)
            yield Offer(tool=tool, spec=tool.spec)

    def _check_schemas(self, spec: ToolSpec, *path: str) -> None:
        try:
            compile_parameters(spec.parameters, self._given.limits)
            if spec.output_schema:
                CompiledSchema(spec.output_schema, self._given.limits)
        except SchemaError as error:
            self.findings.stop(f"a schema of {spec.tool!r} cannot be used: {error}", *path)

    def _offers(self) -> Iterator[Offer]:
        for view in self._sources:
            for offer in offers_of(view, self._server(view), self._given.lock):
                # One without a name goes by its id: a contract has its tags by way of it.
                yield replace(offer, spec=self._told(offer.spec)) if offer.hidden else offer

    def _server(self, view: SourceView) -> ServerSettings:
        return self._given.settings.servers.get(view.name, _PLAIN)

    def _targets(self, offers: Sequence[Offer]) -> dict[tuple[str, str], Offer]:
        """What contracts can be mapped to, by source and tool; named where it has a name."""
        if not self._given.settings.overrides:
            return {}
        by_id = {offer.spec.id: offer for offer in (*offers, *self._named.values())}
        return {
            (view.name, tool.spec.tool): by_id[found]
            for view in self._sources
            for tool in view.state.tools
            if (found := f"{namespace_of(view, self._server(view))}__{tool.spec.tool}") in by_id
        }

    # --- what it is called

    def _name(self, offers: Sequence[Offer]) -> None:
        names = Names(self._held, self._given.limits)
        for offer, name in zip(offers, names.assign([o.spec for o in offers]), strict=True):
            if not name:
                continue
            if offer.spec.tier is Tier.CONTRACT and name != offer.spec.tool:
                self.findings.stop(
                    f"no model could call {offer.spec.tool!r}: use at most "
                    f"{self._given.limits.name_length} of a-z, A-Z, 0-9, '_' and '-'"
                )
            self._named[name] = replace(offer, spec=self._told(replace(offer.spec, name=name)))
        self.findings.problems += names.problems
        self.findings.warnings += names.warnings

    def _told(self, spec: ToolSpec) -> ToolSpec:
        """`spec` with the tags and aliases that settings and plugins add."""
        declared = self._given.settings.tags.items()
        more = [tag for key, tags in declared if matches((key,), spec.name) for tag in tags]
        return self._given.decorate(replace(spec, tags=spec.tags.union(more)) if more else spec)

    # --- what can be called

    def _carry_out(self, tool: ContractTool, spec: ToolSpec, route: Route | None) -> None:
        if route is not None:
            self._route(spec, route)
        elif tool.implementation is not None:
            self._add(RegisteredTool(spec, tool, self._given.limits))
        else:
            why = "nothing implements it: map it to a server's tool in `overrides`"
            self._leave_out(spec, Absence.NOT_IMPLEMENTED, why)
            self.findings.warn(why, "contracts", spec.name)

    def _route(self, spec: ToolSpec, route: Route) -> None:
        if route.mapped is None or route.tool is None:
            self._leave_out(spec, route.absence, route.why)
            return
        # What the server's tool can do, the contract can do.
        whole = replace(spec, tags=spec.tags | route.mapped.target.tags)
        self._add(RegisteredTool(whole, route.tool, self._given.limits, route.mapped))

    def _add_workflows(self) -> None:
        workflows = {workflow.name: workflow for workflow in self._given.workflows}
        specs = [entry.spec for entry in self.tools.values()]
        # A name goes before an id, or a server could pass for the tool that has the name.
        tags = {spec.id: spec.tags for spec in specs if spec.id not in self._named}
        tags |= {spec.name: spec.tags for spec in specs}
        for name, offer in self._named.items():
            if not isinstance(offer.tool, WorkflowTool) or name in self.absent:
                continue
            reach = reached(name, workflows)
            known = tags.keys() | workflows.keys() - self.absent.keys()
            lacking = [used for used in reach if used not in known]
            if lacking:
                self._lacks(offer.spec, lacking)
                continue
            self._check_grants(offer.spec, offer.tool.workflow)
            derived = offer.spec.tags.union(*(tags.get(used, ()) for used in reach))
            spec = replace(offer.spec, tags=derived)
            self._add(RegisteredTool(spec, offer.tool, self._given.limits))

    def _check_grants(self, spec: ToolSpec, workflow: Workflow) -> None:
        """Grants that forget about workflows would be noticed at the first call only."""
        grants = Grants(self._given.settings.grants)
        caller = Caller.workflow(spec.name)
        for used in workflow.uses:
            entry = self.tools.get(used)
            if entry is not None and not grants.allows(caller, entry.spec):
                self.findings.unfit(
                    f"the workflow {spec.name!r} uses {used!r}, which the grants do not give to "
                    "callers of the kind 'workflow'",
                    "grants",
                )

    def _lacks(self, spec: ToolSpec, lacking: Sequence[str]) -> None:
        why = f"it uses {', '.join(map(repr, lacking))}, which cannot be called"
        self._leave_out(spec, Absence.NOT_IMPLEMENTED, why)
        told = f"the workflow {spec.name!r} is unavailable: {why}"
        if all(name in self.absent or may_come(name, self.sources) for name in lacking):
            self.findings.warn(told)
        else:
            self.findings.unfit(told)

    def _add(self, entry: RegisteredTool) -> None:
        known = self._before.get(entry.spec.name)
        # One that is the same keeps its compiled schemas.
        self.tools[entry.spec.name] = known if known and known.same_as(entry) else entry

    def _is_off(self, source: str) -> bool:
        return self.sources[source].state.status is SourceStatus.DISABLED

    def _leave_out(self, spec: ToolSpec, absence: Absence, why: str) -> None:
        self.absent[spec.name] = AbsentTool(spec, absence, why)


def _trouble(view: SourceView) -> Iterator[str]:
    if view.state.reason:
        yield f"{view.name}: {view.state.status.value}: {view.state.reason}"
    yield from view.state.warnings
