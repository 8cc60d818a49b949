"""The plugins of one Toolset: a manager of its own, nothing global."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pluggy

from deferred_tools import hookspecs
from deferred_tools.errors import PluginError
from deferred_tools.retrievers.base import Retriever
from deferred_tools.spec import ToolSpec

logger = logging.getLogger(__name__)


class Plugins:
    """Asks and tells plugins, each on its own: one that fails does not silence the others."""

    def __init__(self, plugins: Iterable[object] = ()) -> None:
        """Register `plugins`: modules or objects with `hookimpl` methods.

        Raises:
            PluginError: One has a hook that does not exist or takes unknown arguments.
        """
        self._manager = pluggy.PluginManager(hookspecs.PROJECT)
        self._manager.add_hookspecs(hookspecs)
        for plugin in plugins:
            try:
                self._manager.register(plugin)
                self._manager.check_pending()
            except (ValueError, pluggy.PluginValidationError) as error:
                raise PluginError(
                    f"plugin {_name(plugin)} cannot be registered: {error}"
                ) from error

    def ask(self, hook: str, **given: Any) -> list[Any]:
        """What each plugin answers to a registering hook, in order of registration.

        A plugin that answers None has nothing to add; what it yields one by one is collected.

        Raises:
            PluginError: A plugin failed; it is named.
        """
        answers = []
        for impl in self._implementations(hook):
            try:
                answer: Any = impl.function(*(given[name] for name in impl.argnames))
                if answer is not None:
                    answers.append(answer if isinstance(answer, Mapping) else tuple(answer))
            except Exception as error:
                message = f"plugin {_name(impl.plugin)} failed in {hook}: {error}"
                raise PluginError(message) from error
        return answers

    def tell(self, hook: str, **given: Any) -> None:
        """Tell every plugin of an event; a failure is logged and goes no further."""
        for impl in self._implementations(hook):
            try:
                impl.function(*(given[name] for name in impl.argnames))
            except Exception:
                logger.exception("plugin %s failed in %s", _name(impl.plugin), hook)

    def decorate(self, spec: ToolSpec) -> ToolSpec:
        """`spec` with the tags and aliases that plugins add; itself when they add nothing.

        Raises:
            PluginError: A plugin failed.
        """
        tags = self.ask("deferred_tools_tags", spec=spec)
        aliases = self.ask("deferred_tools_aliases", spec=spec)
        if not any(tags) and not any(aliases):
            return spec
        return replace(
            spec,
            tags=spec.tags.union(*tags),
            aliases=(*spec.aliases, *(alias for some in aliases for alias in some)),
        )

    def retriever(self, name: str) -> Callable[[], Retriever] | None:
        """What makes the retriever of that name, if a plugin has one.

        Raises:
            PluginError: A plugin failed.
        """
        for named in self.ask("deferred_tools_retrievers"):
            if name in named:
                factory: Callable[[], Retriever] = named[name]
                return factory
        return None

    def _implementations(self, hook: str) -> Sequence[pluggy.HookImpl]:
        caller: pluggy.HookCaller = getattr(self._manager.hook, hook)
        return caller.get_hookimpls()


def _name(plugin: object) -> str:
    return repr(getattr(plugin, "__name__", None) or type(plugin).__name__)
