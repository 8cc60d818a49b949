"""Model-facing names: nobody's name changes because of a newcomer, and no server takes ours."""

from collections.abc import Iterable, Mapping, Sequence

from deferred_tools.limits import Limits
from deferred_tools.spec import Tier, ToolSpec, namespace, safe_name, suffixed

RESERVED = frozenset({"tool_search"})
_RANK = {Tier.CONTRACT: 0, Tier.CODE: 1, Tier.MCP: 2}


def namespace_problems(names: Iterable[str]) -> list[str]:
    """What is wrong with the namespaces of sources."""
    problems = []
    seen: set[str] = set()
    for name in names:
        if name in seen:
            problems.append(f"two sources share the namespace {name!r}: give one another name")
        if not name or name != namespace(name):
            problems.append(
                f"the source name {name!r} cannot be a namespace: use letters, digits, '-' and "
                "single '_' inside"
            )
        seen.add(name)
    return problems


class Names:
    """Hands out names. `problems` should stop the start, `warnings` should be read."""

    def __init__(self, held: Mapping[str, str], limits: Limits) -> None:
        """Take the names that tools had before, by qualified id."""
        self.problems: list[str] = []
        self.warnings: list[str] = []
        self._held = held
        self._length = limits.name_length
        self._taken: dict[str, ToolSpec] = {}

    def assign(self, specs: Sequence[ToolSpec]) -> list[str]:
        """A name for each of `specs`; "" for what is left out."""
        named = [""] * len(specs)
        for at in sorted(range(len(specs)), key=lambda at: self._turn(specs[at])):
            if name := self._choose(specs[at]):
                named[at] = name
                self._taken[name] = specs[at]
        return named

    def _turn(self, spec: ToolSpec) -> tuple[int, bool, bool]:
        """Who chooses first: the stronger tier, then holders, then names that need no change."""
        changed = spec.tool != safe_name(spec.tool)
        return (_RANK[spec.tier], spec.id not in self._held, changed)

    def _choose(self, spec: ToolSpec) -> str:
        wanted = self._held.get(spec.id) or self._wanted(spec)
        if spec.tier is Tier.MCP:
            return self._of_server(spec, wanted)
        rival = self._taken.get(wanted)
        if wanted in RESERVED:
            self.problems.append(
                f"a tool is named {wanted!r}, which is the search tool's own name: rename yours"
            )
            return ""
        if rival is None:
            return wanted
        qualified = self._fitted(safe_name(spec.id), spec)
        if spec.tier is Tier.CONTRACT or rival.source == spec.source or qualified in self._taken:
            self.problems.append(
                f"two tools are named {wanted!r} ({rival.id!r} and {spec.id!r}): rename one"
            )
            return ""
        self.warnings.append(
            f"{spec.id!r} and {rival.id!r} share a name: the former is called {qualified!r}"
        )
        return qualified

    def _of_server(self, spec: ToolSpec, wanted: str) -> str:
        rivals: list[str] = []
        for name in (wanted, suffixed(wanted, spec.id, self._length)):
            rival = self._taken.get(name)
            if rival is None:
                if rivals:
                    self.warnings.append(
                        f"{spec.id!r} and {rivals[0]!r} share a name: the former is called {name!r}"
                    )
                return name
            if rival.id == spec.id:
                self.warnings.append(f"{spec.id!r} is listed twice: the later one is left out")
                return ""
            rivals.append(rival.id)
        # Only a server that foresees the suffix of its own tool comes here.
        self.warnings.append(
            f"{spec.id!r} has no name of its own beside {' and '.join(rivals)}: it is left out"
        )
        return ""

    def _wanted(self, spec: ToolSpec) -> str:
        return self._fitted(safe_name(spec.id if spec.tier is Tier.MCP else spec.tool), spec)

    def _fitted(self, name: str, spec: ToolSpec) -> str:
        fits = name and len(name) <= self._length
        return name if fits else suffixed(name, spec.id, self._length)
