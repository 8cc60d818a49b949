"""An agent's own tools beside deferred ones: whose name it is."""

from collections.abc import Iterable

from deferred_tools.errors import ConfigurationError
from deferred_tools.registry import Registry
from deferred_tools.search_request import NAME
from deferred_tools.spec import Tier


def own_names(registry: Registry, names: Iterable[str]) -> frozenset[str]:
    """The names of the agent's own tools, all but `tool_search`, which deferred ones cannot have.

    Raises:
        ConfigurationError: Two tools share a name, where a framework would take one of them
            silently.
    """
    taken: set[str] = set()
    for name in names:
        if name == NAME:
            raise ConfigurationError(
                f"one of your own tools is called {NAME!r}, as the tool that finds deferred tools "
                "is: rename yours"
            )
        if name in taken:
            raise ConfigurationError(f"two bound tools are called {name!r}: rename one of them")
        rival = registry.tools.get(name)
        # A server cannot stop the application by taking one of its names: its tool is left out.
        if rival is not None and rival.spec.tier is not Tier.MCP:
            raise ConfigurationError(
                f"{name!r} is both bound to the agent and in the toolset: remove it from one"
            )
        taken.add(name)
    return frozenset(taken)
