"""Toolset: the one object that an application makes, and all that an adapter is handed.

It wires sources, registry, catalogue, search, policy and calls together, and is the only
place with defaults. What it answers is a value of one moment; connections live in a
background loop that it owns, so it works from any thread and any event loop.
"""

from collections.abc import Callable, Iterable
from typing import Any, Self, TypedDict, Unpack

from deferred_tools import resolve as resolving
from deferred_tools.approval import Approve, ask_nobody
from deferred_tools.catalog import ToolCatalog
from deferred_tools.dispatch import Admitted, Dispatch
from deferred_tools.keeper import WorldKeeper
from deferred_tools.limits import Limits
from deferred_tools.lock import ToolsLock
from deferred_tools.plugins import Plugins
from deferred_tools.policy import Caller, Policy
from deferred_tools.prompt import CountTokens, estimate_tokens
from deferred_tools.registered import RegisteredTool
from deferred_tools.registry import Registry, gate_of
from deferred_tools.retrievers.base import Degrades, Retriever
from deferred_tools.retrievers.builtin import builtin
from deferred_tools.search import SearchOutcome
from deferred_tools.searching import Searching
from deferred_tools.session import Session
from deferred_tools.settings import Settings
from deferred_tools.sources.base import OnProgress, Source, SourceState, ToolResult
from deferred_tools.sources.gather import gathered
from deferred_tools.workflows import Workflow
from deferred_tools.world import World, WorldBuilder


class ToolsetOptions(TypedDict, total=False):
    """Everything about a Toolset but its sources. Each may be left out."""

    settings: Settings
    """Contracts, overrides, grants and more; see `Settings`. Default: none of it."""
    policies: Iterable[Policy]
    """Who may reach what, besides the settings' grants; all must agree. Default without such
    grants: `Grants()`, all to root, workflows and sub-agents."""
    retriever: str | Callable[[], Retriever]
    """A built-in or a plugin's retriever by name, or a factory of one. Default: "bm25"."""
    limits: Limits
    """Bounds, the prompt budget among them."""
    plugins: Iterable[object]
    """Objects or modules with hooks (see `hookspecs`)."""
    count_tokens: CountTokens
    """Counts the tokens of the prompt block. Default: an estimate on the high side."""


def _always(_: RegisteredTool) -> bool:
    return True


class Toolset:
    """All tools of an application, shared by any number of agents, callers and conversations.

    Opens at first use and closes at exit, or use it in a `with` or `async with` block.
    """

    def __init__(self, sources: Iterable[Source], **options: Unpack[ToolsetOptions]) -> None:
        """Take sources, in catalogue order; nothing is started or loaded yet.

        Raises:
            PluginError: A plugin cannot be registered, or failed.
            ConfigurationError: There is no retriever of that name, the settings are none, or the
                lock file that they name cannot be used.
        """
        settings = Settings.of(options.get("settings"))
        self.limits = options.get("limits") or Limits()
        self.plugins = Plugins(options.get("plugins", ()))
        added = [s for some in self.plugins.ask("deferred_tools_sources") for s in some]
        rules = [p for some in self.plugins.ask("deferred_tools_policies") for p in some]
        self._count_tokens = options.get("count_tokens", estimate_tokens)
        builder = WorldBuilder(
            sources=(*sources, *added),
            settings=settings,
            lock=ToolsLock.from_file(settings.lock) if settings.lock else None,
            gate=gate_of(settings, options.get("policies"), rules),
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
        return cls(gathered(sources), **options)

    def register_workflow_tools(self, workflows: Iterable[Workflow]) -> Self:
        """Offer the host's procedures as tools: once, before the toolset is first used.

        They are checked when it opens; their tags are derived from the tools that they use.

        Raises:
            ConfigurationError: It has been done, or the toolset has been used.
        """
        self._keeper.register(tuple(workflows))
        return self

    # --- lifetime

    def open(self) -> Self:
        """Start the sources and wait until each has settled, at most `Limits.startup_seconds`.

        A silent minority is waited for no longer than `Limits.quiet_seconds`. Sources that are
        slower join when they are ready; `status` says how each is doing.

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
            lambda: self.world.view(caller).specs,
            limits=self.limits,
            count_tokens=self._count_tokens,
        )

    def prompt(self, caller: Caller | None) -> str:
        """The `<available_tools>` block for `caller`; "" if nothing is available to it."""
        return self.world.view(caller).block

    def search(
        self,
        session: Session,
        arguments: Any,
        *,
        turn: str = "",
        position: int = 0,
        approve: Approve = ask_nobody,
    ) -> SearchOutcome:
        """Answer a `tool_search` call of the model, with whatever arguments it sent.

        Args:
            session: The conversation.
            arguments: What the model sent.
            turn: Names the conversation's turn, in which searches are counted.
            position: The place of this call among the searches that the model asked for side by
                side.
            approve: Asks the host about tools that complete the trifecta, where the settings say
                so; it may raise what interrupts a run.
        """
        searching = Searching(world=self.world, plugins=self.plugins, limits=self.limits)
        return searching.answer(session, arguments, turn=turn, position=position, approve=approve)

    def bound(self, session: Session) -> tuple[RegisteredTool, ...]:
        """The tools to bind for `session`, in first-enabled order."""
        limit = self.limits.enabled_tools
        return resolving.bound(registry=self.world.registry, session=session, limit=limit)

    def called(self, session: Session, names: Iterable[str]) -> Session:
        """`session` after the model has asked for calls of `names`, in their order.

        Counts the calls that may run, and what they bring into the conversation: hold this
        against the calls themselves.
        """
        entries = map(self.world.registry.get, names)
        specs = [entry.spec for entry in entries if entry is not None]
        return session.called(specs, limit=self.limits.enabled_tools)

    def check(
        self,
        session: Session,
        name: str,
        arguments: Any,
        *,
        strict: Callable[[RegisteredTool], bool] = _always,
        approve: Approve = ask_nobody,
    ) -> Admitted:
        """See whether a call may run that a framework will run, with the arguments for it.

        Arguments must fit the schema where `strict` says so of the tool; `approve` is as for
        `search`.

        Raises:
            ModelError: It may not; the message tells the model what to do instead.
        """
        return self._dispatch.check(session, name, arguments, strict=strict, approve=approve)

    async def acall(
        self,
        session: Session,
        name: str,
        arguments: Any,
        *,
        run: str = "",
        progress: OnProgress | None = None,
    ) -> ToolResult:
        """Resolve and call a tool, once.

        `run` names the host's run, for mappings; `progress` hears how far the call is, where its
        server tells.

        Raises:
            ModelError: It was not run; the message tells the model what to do instead.
            HostError: It could not be reached or did not answer in time.
        """
        await self.aopen()
        return await self._dispatch.call(session, name, arguments, run, progress)

    def call(self, session: Session, name: str, arguments: Any, *, run: str = "") -> ToolResult:
        """`acall` for code that is not async: runs in the background loop."""
        result: ToolResult = self._keeper.run(self._acall, session, name, arguments, run)
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

    @property
    def _dispatch(self) -> Dispatch:
        registry = self.world.registry
        return Dispatch(registry=registry, plugins=self.plugins, limits=self.limits)

    def _factory(self, retriever: str | Callable[[], Retriever]) -> Callable[[], Retriever]:
        if not isinstance(retriever, str):
            return retriever
        return self.plugins.retriever(retriever) or builtin(retriever)

    def _source_changed(self, source: str, state: SourceState) -> None:
        self.plugins.tell("deferred_tools_source_changed", source=source, state=state)

    async def _acall(self, session: Session, name: str, arguments: Any, run: str) -> ToolResult:
        return await self.acall(session, name, arguments, run=run)
