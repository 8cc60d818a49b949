"""Whether the servers and tools that settings name are there, and what contradicts itself. Pure."""

from collections.abc import Mapping

from deferred_tools.building.findings import Findings, nearest
from deferred_tools.building.offering import namespace_of
from deferred_tools.policy import CallerKind, matches
from deferred_tools.registered import SourceView
from deferred_tools.settings import OnUnreachable, ServerSettings, Settings
from deferred_tools.sources.base import SourceStatus
from deferred_tools.spec import SEPARATOR, ToolSpec, namespace


class SettingsCheck:
    """Holds settings against what there is; what is wrong goes to the findings."""

    def __init__(
        self,
        settings: Settings,
        sources: Mapping[str, SourceView],
        named: Mapping[str, ToolSpec],
        findings: Findings,
    ) -> None:
        """Take sources by their own names, and every tool that has a name."""
        self._settings = settings
        self._sources = sources
        self._namespaces = {
            namespace_of(view, settings.servers.get(name, ServerSettings())): view
            for name, view in sources.items()
        }
        self._named = named
        self._ids = {spec.id: name for name, spec in named.items()}
        self._findings = findings

    def run(self) -> frozenset[str]:
        """Check everything, and give the names of disabled tools."""
        self._servers()
        self._overrides()
        disabled = self._disabled()
        self._grants(disabled)
        for key in self._settings.tags:
            if not self._fits_any(key):
                self._findings.warn("fits no tool" + nearest(key, self._named), "tags", key)
        for agent, chosen in self._settings.agents.items():
            for tier, patterns in chosen:
                for pattern in patterns:
                    if pattern != "*" and not self._fits_any(pattern):
                        text = f"{pattern!r} fits no tool{nearest(pattern, self._named)}"
                        self._findings.warn(text, "agents", agent, tier)
        return disabled

    def _servers(self) -> None:
        for name, server in self._settings.servers.items():
            if name not in self._sources:
                text = f"no server of this name is declared{nearest(name, self._sources)}"
                self._findings.stop(text, "servers", name)
            if server.namespace is not None and not namespace(server.namespace):
                text = f"{server.namespace!r} leaves nothing for ids (`a-z A-Z 0-9 _ -`)"
                self._findings.stop(text, "servers", name, "namespace")
            # To deny all is to hide all, though "*" is what is allowed by default.
            for pattern in set(server.allow) & set(server.deny) - {"*"}:
                self._findings.stop(f"{pattern!r} is both allowed and denied", "servers", name)
        everything = self._settings.unreachable is OnUnreachable.FAIL
        for name, view in self._sources.items():
            chosen = self._settings.servers.get(name)
            required = chosen is not None and chosen.required
            status = view.state.status
            if status is SourceStatus.READY:
                self._check_patterns(name, view)
            elif required or (everything and status is not SourceStatus.DISABLED):
                why = f" ({view.state.reason})" if view.state.reason else ""
                self._findings.unfit(
                    f"the server {name!r} is required and is {status.value}{why}: see to it, or "
                    "let the start go on without it"
                )

    def _check_patterns(self, name: str, view: SourceView) -> None:
        """Names that fit nothing are most likely misspelt."""
        chosen = self._settings.servers.get(name)
        tools = [tool.spec.tool for tool in view.state.tools]
        for key, patterns in (("allow", chosen.allow), ("deny", chosen.deny)) if chosen else ():
            for pattern in patterns:
                if pattern != "*" and not any(matches((pattern,), tool) for tool in tools):
                    text = f"{pattern!r} fits none of its tools{nearest(pattern, tools)}"
                    self._findings.warn(text, "servers", name, key)

    def _overrides(self) -> None:
        contracts = self._settings.contracts
        for name in self._settings.overrides:
            if name in contracts:
                continue
            text = f"there is no contract of this name{nearest(name, contracts)}"
            if self._name_of(name):
                text = "this tool is not a contract, and only contracts can be overridden"
            self._findings.stop(text, "overrides", name)

    def _disabled(self) -> frozenset[str]:
        found = set()
        for at, given in enumerate(self._settings.disabled):
            name = self._name_of(given)
            if (name or given) in self._settings.overrides:
                self._findings.stop(f"{given!r} is both disabled and overridden", "disabled", at)
            if name:
                found.add(name)
            elif self._may_come(given):
                self._findings.warn(f"{given!r} is not there at present", "disabled", at)
            else:
                text = f"there is no tool {given!r} to disable{nearest(given, self._named)}"
                self._findings.unfit(text, "disabled", at)
        return frozenset(found)

    def _grants(self, disabled: frozenset[str]) -> None:
        for at, grant in enumerate(self._settings.grants or ()):
            if CallerKind.ANONYMOUS in grant.kinds:
                self._findings.stop("anonymous callers cannot be granted anything", "grants", at)
            if grant.roles and CallerKind.PRINCIPAL not in grant.kinds:
                text = "only principals have roles, and it is not for them"
                self._findings.stop(text, "grants", at)
            for pattern in grant.tools:
                if pattern in disabled:
                    text = f"{pattern!r} is both granted and disabled"
                    self._findings.unfit(text, "grants", at, "tools")
                elif pattern != "*" and not self._fits_any(pattern):
                    text = f"{pattern!r} fits no tool{nearest(pattern, self._named)}"
                    self._findings.warn(text, "grants", at, "tools")

    def _name_of(self, given: str) -> str:
        return given if given in self._named else self._ids.get(given, "")

    def _fits_any(self, pattern: str) -> bool:
        fits = any(matches((pattern,), name) for name in self._named)
        return fits or self._may_come(pattern)

    def _may_come(self, name: str) -> bool:
        return may_come(name, self._namespaces)


def may_come(name: str, sources: Mapping[str, SourceView]) -> bool:
    """Whether a tool of that name may be one of a source, by namespace, that is away."""
    view = sources.get(name.split(SEPARATOR, 1)[0])
    return view is not None and view.state.status is not SourceStatus.READY
