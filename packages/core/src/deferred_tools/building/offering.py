"""What a source offers, as the host's settings and lock file let it. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from deferred_tools.lock import ToolsLock
from deferred_tools.policy import matches
from deferred_tools.registered import SourceView
from deferred_tools.settings import ServerSettings
from deferred_tools.sources.base import Tool
from deferred_tools.spec import Tier, ToolSpec, namespace
from deferred_tools.trifecta import hinted


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A tool that there is, before it has its name."""

    tool: Tool
    spec: ToolSpec
    """The registry's view: where a tool comes from is what its source is, not what it says."""
    hidden: bool = False
    """Not to be listed or called under a name of its own; a contract may be mapped to it."""
    objection: str = ""
    """Why the lock file withholds it."""


def offers_of(view: SourceView, server: ServerSettings, lock: ToolsLock | None) -> Iterator[Offer]:
    """What the source offers, under `server`'s namespace, in its order."""
    source = namespace_of(view, server)
    locked = lock is not None and view.tier is Tier.MCP
    for tool in view.state.tools:
        spec = tool.spec
        named = spec.tool
        yield Offer(
            tool=tool,
            spec=replace(
                spec,
                name="",
                source=source,
                tier=view.tier,
                tags=spec.tags.union(server.tags, hinted(spec.annotations)),
            ),
            hidden=not matches(server.allow, named) or matches(server.deny, named),
            objection=_objection(lock, view, spec) if lock and locked else "",
        )


def namespace_of(view: SourceView, server: ServerSettings) -> str:
    """The namespace of a source's tools."""
    return namespace(server.namespace) if server.namespace else view.name


def _objection(lock: ToolsLock, view: SourceView, spec: ToolSpec) -> str:
    # The lock knows a server by the name that it has without any settings.
    told = spec if spec.source == view.name else replace(spec, source=view.name)
    return lock.objection(told, view.identity)
