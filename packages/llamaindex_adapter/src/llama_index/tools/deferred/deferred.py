"""DeferredTools: what an application makes of a toolset for LlamaIndex."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from llama_index.core.agent.workflow import AgentWorkflow, BaseWorkflowAgent
from llama_index.core.workflow import Context

from deferred_tools.errors import ConfigurationError
from deferred_tools.nesting import Inheritance
from deferred_tools.policy import Caller
from deferred_tools.toolset import Toolset
from llama_index.tools.deferred.attached import attached
from llama_index.tools.deferred.callers import CallerOf, caller_in
from llama_index.tools.deferred.checks import check_agent
from llama_index.tools.deferred.ledger import SHARED, everything, put_everything, scope_of
from llama_index.tools.deferred.retriever import CallRetriever

_Agent = TypeVar("_Agent", bound=BaseWorkflowAgent | AgentWorkflow)
_SCOPES = ("agent", "conversation")


class DeferredTools:
    """A toolset for agents and workflows of LlamaIndex.

    deferred = DeferredTools(toolset)
    agent = deferred.attach(FunctionAgent(llm=llm, tools=[...], system_prompt="..."))
    """

    def __init__(
        self,
        toolset: Toolset,
        *,
        caller: Caller | CallerOf | None = None,
        scope: str = "agent",
        inherit: str | Collection[str] = "none",
    ) -> None:
        """Use `toolset`; nothing is opened yet.

        Args:
            toolset: May be shared by any number of agents and workflows.
            caller: Who runs the workflow, or a function, async or not, from the step's context
                to that. Where the function gives None or fails, nothing is available. Default:
                root.
            scope: "agent": each agent of a conversation enables tools for itself;
                "conversation": for all of them.
            inherit: What a workflow that runs within a tool of another one takes over of what is
                enabled there: "none", "inherit" (all that its caller may use), or the names of
                some tools.

        Raises:
            ConfigurationError: `scope` or `inherit` is another text.
        """
        if scope not in _SCOPES:
            raise ConfigurationError(f"`scope` must be one of {_SCOPES}, not {scope!r}")
        self.toolset = toolset
        self.inheritance = Inheritance.of(inherit)
        self._caller = Caller.root() if caller is None else caller
        self._scope = scope

    def attach(self, agent: _Agent) -> _Agent:
        """`agent` itself, from now on with deferred tools; a workflow's agents, all of them.

        The agent's own tools stay bound. Do it once, before the agent runs.

        Raises:
            ConfigurationError: It cannot have them; the message says what to do.
        """
        agents = agent.agents.values() if isinstance(agent, AgentWorkflow) else [agent]
        for one in agents:
            check_agent(one)
        for one in agents:
            one.tool_retriever = CallRetriever(self, one)
            # Past pydantic, which takes it for a field.
            object.__setattr__(one, "__class__", attached(type(one)))
        return agent

    def resource(self) -> Callable[[], "DeferredTools"]:
        """A factory for `Annotated[DeferredTools, Resource(...)]` in a workflow's step.

        Workflows tell factories apart by their qualified names, so this has one of its own.
        """

        def resource() -> DeferredTools:
            return self

        resource.__qualname__ = f"DeferredTools.resource.{id(self):x}"
        return resource

    async def snapshot(self, ctx: Context[Any]) -> dict[str, Any]:
        """What `ctx` holds of us, as plain JSON, for hosts that keep conversations themselves."""
        return await everything(ctx.store)

    async def restore(self, ctx: Context[Any], snapshot: Mapping[str, Any] | None) -> None:
        """Put a snapshot into a context before it runs; None for a new conversation.

        Raises:
            ConfigurationError: It is no snapshot, or the typed state has no place for it.
        """
        if snapshot is not None and not isinstance(snapshot, Mapping):
            raise ConfigurationError(
                f"a snapshot is an object, not of type {type(snapshot).__name__}: give what "
                "`snapshot` gave, read from JSON if you keep it as text"
            )
        if snapshot:
            await put_everything(ctx.store, snapshot)

    # --- for sessions

    async def caller(self, ctx: Context[Any]) -> Caller:
        """Who runs the workflow; anonymous where that cannot be told."""
        return await caller_in(ctx, self._caller)

    def scope_of(self, agent: str) -> str:
        """Where in a context's store an agent's ledger is."""
        return scope_of(agent) if self._scope == "agent" else SHARED
