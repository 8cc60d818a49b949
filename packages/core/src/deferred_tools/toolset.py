"""Toolset: the one object that an application makes, and all that an adapter is handed.

It wires sources, registry, catalogue, search, policy and calls together, and is the only
place with defaults. What it answers is a value of one moment; connections live in a
background loop that it owns, so it works from any thread and any event loop.
"""

from collections.abc import Callable, Iterable
from typing import Any, Self, TypedDict, Unpack

from pydantic import BaseModel

from deferred_tools import resolve as resolving
from deferred_tools.call import call as run_call
from deferred_tools.catalog import ToolCatalog
from deferred_tools.errors import DeferredToolsError
from deferred_tools.keeper import WorldKeeper
from deferred_tools.limits import Limits
from deferred_tools.plugins import Plugins
from deferred_tools.policy import Caller, Gate, Grants, Policy
from deferred_tools.prompt import CountTokens, estimate_tokens
from deferred_tools.registry import RegisteredTool, Registry
from deferred_tools.retrievers.base import Degrades, Retriever
from deferred_tools.retrievers.builtin import builtin
from deferred_tools.search import SearchOutcome, ToolSearch
from deferred_tools.search_request import SearchRequest
from deferred_tools.session import Session
from deferred_tools.sources.base import Source, SourceState, Tool, ToolResult
from deferred_tools.sources.functions import FunctionSource
from deferred_tools.world import World, WorldBuilder


class ToolsetOptions(TypedDict, total=False):
    """Everything about a Toolset but its sources. Each may be left out."""

    policies: Iterable[Policy]
    """Who may reach what; all must agree. Default: `Grants()`, all to root and sub-agents."""
    retriever: str | Callable[[], Retriever]
    """A built-in or a plugin's retriever by name, or a factory of one. Default: "bm25"."""
    limits: Limits
    """Bounds, the prompt budget among them."""
    plugins: Iterable[object]
    """Objects or modules with hooks (see `hookspecs`)."""
    count_tokens: CountTokens
    """Counts the tokens of the prompt block. Default: an estimate on the high side."""


class Toolset:
    """All tools of an application, shared by any number of agents, callers and conversations.

    Opens at first use and closes at exit, or use it in a `with` or `async with` block.
    """

    def __init__(self, sources: Iterable[Source], **options: Unpack[ToolsetOptions]) -> None:
        """Take sources, in catalogue order; nothing is started or loaded yet.

        Raises:
            PluginError: A plugin cannot be registered, or failed.
            ConfigurationError: There is no retriever of that name.
        """
        self.limits = options.get("limits") or Limits()
        self.plugins = Plugins(options.get("plugins", ()))
        added = [s for some in self.plugins.ask("deferred_tools_sources") for s in some]
        rules = [p for some in self.plugins.ask("deferred_tools_policies") for p in some]
        self._gate = Gate([*options.get("policies", (Grants(),)), *rules])
        self._count_tokens = options.get("count_tokens", estimate_tokens)
        builder = WorldBuilder(
            sources=(*sources, *added),
            make_retriever=self._factory(options.get("retriever", "bm25")),
            decorate=self.plugins.decorate,
            limits=self.limits,
            count_tokens=self._count_tokens,
        )
        self._keeper = WorldKeeper(builder, changed=self._source_changed)

    @classmethod
    def from_sources(cls, *sources: object, **options: Unpack[ToolsetOptions]) -> Self:
        """A toolset of whatever holds tools.

        Each argument is a Source, an iterable of Sources (such as `McpServers`), one tool, or
        an iterable of tools: functions, `Lazy` factories, import strings, Tools, or a
        framework's tool objects. Loose tools become one source, `functions`.
        """
        found: list[Source] = []
        loose: list[object] = []
        place = 0
        for item in (item for given in sources for item in _items(given)):
            if isinstance(item, Source):
                found.append(item)
                continue
            place = place if loose else len(found)
            loose.append(item)
        if loose:
            found.insert(place, FunctionSource(loose))
        return cls(found, **options)

    # --- lifetime

    def open(self) -> Self:
        """Start the sources and wait until each has settled, at most `Limits.startup_seconds`.

        Sources that are slower join when they are ready; `status` says how each is doing.

        Raises:
            DeveloperError: The tools as configured cannot be used. The next use tries anew.
        """
        self._keeper.open()
        return self

    async def aopen(self) -> Self:
        """`open`, without blocking the event loop."""
        await self._keeper.aopen()
        return self

    def close(self) -> None:
        """Close every source. The next use opens again."""
        self._keeper.close()

    async def aclose(self) -> None:
        """`close`, without blocking the event loop; done even when cancelled."""
        await self._keeper.aclose()

    def __enter__(self) -> Self:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        try:
            return await self.aopen()
        except BaseException:  # cancelled, too: what has started must not stay
            await self.aclose()
            raise

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    # --- what an adapter needs

    def catalog(self, caller: Caller | None) -> ToolCatalog:
        """Level 1 as `caller` may see it now. Lazy: opens the toolset at its first query."""
        return ToolCatalog(
            lambda: self.world.view(self._gate, caller).specs,
            limits=self.limits,
            count_tokens=self._count_tokens,
        )

    def prompt(self, caller: Caller | None) -> str:
        """The `<available_tools>` block for `caller`; "" if nothing is available to it."""
        return self.world.view(self._gate, caller).block

    def search(
        self, session: Session, arguments: Any, *, turn: str = "", position: int = 0
    ) -> SearchOutcome:
        """Answer a `tool_search` call of the model, with whatever arguments it sent.

        `turn` names the conversation's turn, `position` the place of this call among the
        searches that the model asked for side by side.
        """
        world = self.world
        view = world.view(self._gate, session.caller)
        request = SearchRequest.parse(arguments, self.limits)
        search = ToolSearch(
            registry=world.registry,
            visible=view.by_name,
            summaries=view.summaries,
            retriever=view.retriever,
            limits=self.limits,
        )
        outcome = search.run(session, request, turn=turn, position=position)
        new = tuple(tool.name for tool in outcome.enabled)
        found = (*new, *(tool.name for tool in outcome.already))
        caller = session.caller
        self.plugins.tell(
            "deferred_tools_searched", caller=caller, query=request.query, found=found
        )
        if new:
            self.plugins.tell("deferred_tools_enabled", caller=caller, names=new)
        return outcome

    def bound(self, session: Session) -> tuple[RegisteredTool, ...]:
        """The tools to bind for `session`, in first-enabled order."""
        return resolving.bound(
            registry=self.world.registry,
            gate=self._gate,
            session=session,
            limit=self.limits.enabled_tools,
        )

    def resolve(self, session: Session, name: str) -> RegisteredTool:
        """The enabled tool that `session` may call as `name`.

        Raises:
            UnknownToolError: There is none, or none that the caller may know of.
            ToolNotEnabledError: It must be searched for first.
        """
        try:
            return resolving.resolve(
                name,
                registry=self.world.registry,
                gate=self._gate,
                session=session,
                limit=self.limits.enabled_tools,
            )
        except DeferredToolsError as error:
            self._refused(session, name, error)
            raise

    async def acall(self, session: Session, name: str, arguments: Any) -> ToolResult:
        """Resolve and call a tool, once.

        Raises:
            ModelError: It was not run; the message tells the model what to do instead.
            HostError: It could not be reached or did not answer in time.
        """
        await self.aopen()
        entry = self.resolve(session, name)
        try:
            result = await run_call(entry, arguments, limits=self.limits)
        except DeferredToolsError as error:
            self._refused(session, name, error)
            raise
        self.plugins.tell(
            "deferred_tools_called", caller=session.caller, name=entry.spec.name, result=result
        )
        return result

    def call(self, session: Session, name: str, arguments: Any) -> ToolResult:
        """`acall` for code that is not async: runs in the background loop."""
        result: ToolResult = self._keeper.run(self.acall, session, name, arguments)
        return result

    # --- what hosts look at

    @property
    def world(self) -> World:
        """What exists at this moment; opens the toolset if need be."""
        return self._keeper.world

    @property
    def sources(self) -> tuple[Source, ...]:
        """Where the tools come from, whether or not they have been started."""
        return self._keeper.sources

    @property
    def registry(self) -> Registry:
        """Every tool that exists at this moment, whoever may use it."""
        return self.world.registry

    def knows(self, name: str) -> bool:
        """Whether a tool of that name exists, whoever may use it. For adapters, not for models."""
        return name in self.world.registry

    def status(self) -> dict[str, Any]:
        """A JSON view: sources with state and reason, tool counts, warnings."""
        world = self.world
        status = world.registry.status()
        retriever = world.views.everything.retriever
        if isinstance(retriever, Degrades) and retriever.problem:
            status["warnings"].append(f"A simpler search answers: {retriever.problem}")
        return status

    # --- inside

    def _factory(self, retriever: str | Callable[[], Retriever]) -> Callable[[], Retriever]:
        if not isinstance(retriever, str):
            return retriever
        for named in self.plugins.ask("deferred_tools_retrievers"):
            if retriever in named:
                factory: Callable[[], Retriever] = named[retriever]
                return factory
        return builtin(retriever)

    def _source_changed(self, source: str, state: SourceState) -> None:
        self.plugins.tell("deferred_tools_source_changed", source=source, state=state)

    def _refused(self, session: Session, name: str, error: Exception) -> None:
        self.plugins.tell("deferred_tools_refused", caller=session.caller, name=name, error=error)


def _items(given: object) -> Iterable[object]:
    """The sources or tools that an argument of `from_sources` stands for."""
    # A pydantic model can be iterated too, over its fields: a tool object of a framework.
    if isinstance(given, Source | Tool | str | BaseModel) or not isinstance(given, Iterable):
        return (given,)
    return given
