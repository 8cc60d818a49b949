"""Deferred tools for `create_agent`: needs the extra `agents`."""

from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Annotated, Any, NotRequired, Self, cast

from langchain.agents.middleware import hook_config
from langchain.agents.middleware.types import (
    AgentMiddleware,
    AgentState,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    PrivateStateAttr,
)
from langchain_core.messages import AIMessage
from langgraph.config import get_config
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime
from langgraph.types import Command

from deferred_tools.nesting import Inheritance
from deferred_tools.policy import Caller
from deferred_tools.session import Session
from deferred_tools.toolset import Toolset
from langchain_deferred_tools.answer import Answer
from langchain_deferred_tools.delivery import check_state, tools_to_bind, with_block
from langchain_deferred_tools.direct import all_direct, ended_early, marked
from langchain_deferred_tools.gate import CallerOf, Gate
from langchain_deferred_tools.prompt_check import prompt_check
from langchain_deferred_tools.responses import settled_response
from langchain_deferred_tools.search_tool import SearchTool
from langchain_deferred_tools.settled import valid_calls
from langchain_deferred_tools.source import LangChainTool, may_return_direct
from langchain_deferred_tools.state import STATE_KEY, change_to, merge_sessions
from langchain_deferred_tools.stream import exact_if_possible

Handled = ModelResponse[Any] | ExtendedModelResponse[Any]


class DeferredToolsState(AgentState[Any]):
    """Adds the conversation's ledger, out of reach of the agent's input and output."""

    # LangGraph takes only the last item of the metadata for a reducer.
    deferred_tools: NotRequired[Annotated[dict[str, Any], PrivateStateAttr, merge_sessions]]


class DeferredToolsMiddleware(AgentMiddleware[Any, Any, Any]):
    """Lists the toolset in the prompt, binds what `tool_search` enabled, and guards each call.

    In `create_agent(middleware=[...])`, put it after middleware that writes the system prompt
    (`dynamic_prompt`) and before middleware that reviews or repeats calls (human in the loop,
    retries, limits, fallbacks) or marks prompts for caching.
    """

    state_schema = DeferredToolsState

    def __new__(cls, toolset: Toolset, **_: object) -> Self:
        """Leave out a hook that `toolset` has no use for: each is a node, with a checkpoint."""
        needed = any(map(may_return_direct, toolset.sources))
        chosen = cls if needed or cls is not DeferredToolsMiddleware else _NothingDirect
        return cast("Self", super().__new__(chosen))

    def __init__(
        self,
        toolset: Toolset,
        *,
        caller: Caller | CallerOf | None = None,
        inherit: str | Collection[str] = "none",
    ) -> None:
        """Use `toolset`; nothing is opened yet.

        Args:
            toolset: May be shared by any number of agents.
            caller: Who runs the agent, or a function from the run's context and config to that.
                Where the function gives None or fails, nothing is available. Default: root.
            inherit: What this agent takes over of what is enabled in the conversation that asks
                it, when it works within a tool of another agent: "none", "inherit" (all that its
                caller may use), or the names of some tools.

        Raises:
            ConfigurationError: `inherit` is another text, or the function is async.
        """
        super().__init__()
        self.toolset = toolset
        self.tools = [SearchTool()]
        caller = Caller.root() if caller is None else caller
        # `create_agent` sends each call to a run of the node of its own.
        self._gate = Gate(toolset, caller, Inheritance.of(inherit), alone=True)

    # --- the model's call

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> Handled:
        """Bind enabled tools and list the others."""
        self.toolset.open()
        session = self._session(request)
        block = self.toolset.prompt(session.caller)
        with prompt_check(block):
            response = handler(self._prepared(session, request, block))
        return self._used(session, response)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> Handled:
        """Bind enabled tools and list the others."""
        await self.toolset.aopen()
        session = self._session(request)
        block = self.toolset.prompt(session.caller)
        with prompt_check(block):
            response = await handler(self._prepared(session, request, block))
        return self._used(session, response)

    def _session(self, request: ModelRequest[Any]) -> Session:
        config = cast("Mapping[str, Any]", get_config())
        return self._gate.session(request.state, request.runtime.context, config)

    def _prepared(
        self, session: Session, request: ModelRequest[Any], block: str
    ) -> ModelRequest[Any]:
        check_state(request.state)
        return request.override(
            model=exact_if_possible(request.model) or request.model,
            tools=tools_to_bind(self.toolset, session, request.tools),
            system_message=with_block(request.system_message, block),
        )

    def _used(self, session: Session, response: ModelResponse[Any]) -> Handled:
        """Note which enabled tools the model called: the least recently used one leaves first."""
        response = settled_response(response)
        called = [
            call["name"]
            for message in response.result
            if isinstance(message, AIMessage)
            for call in valid_calls(message)
        ]
        touched = self._gate.called(session, called)
        if touched is session:
            return response
        return ExtendedModelResponse(response, Command(update={STATE_KEY: change_to(touched)}))

    # --- the tools' calls

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Answer]
    ) -> Answer:
        """Run what may run."""
        return self._marked(request, self._gate.run(request, handler))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Answer]]
    ) -> Answer:
        """Run what may run."""
        return self._marked(request, await self._gate.arun(request, handler))

    def _marked(self, request: ToolCallRequest, answer: Answer) -> Answer:
        return marked(answer, request.tool_call["name"], request.runtime.tools, self._is_direct)

    def _is_direct(self, name: str) -> bool:
        entry = self.toolset.registry.get(name)
        tool = entry.tool.original if entry and isinstance(entry.tool, LangChainTool) else None
        return tool is not None and tool.return_direct

    # --- return_direct, which create_agent knows only of tools that it was made with

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """End after calls that were all to be returned directly."""
        return {"jump_to": "end"} if all_direct(state["messages"]) else None

    @hook_config(can_jump_to=["end"])
    async def abefore_model(
        self, state: AgentState[Any], runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """The same, without a thread for it."""
        return self.before_model(state, runtime)

    @hook_config(can_jump_to=["model"])
    def after_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Go on where the agent ended for direct answers although there are others."""
        answers = ended_early(state["messages"], self.toolset.knows)
        return {"jump_to": "model", "messages": answers} if answers else None

    @hook_config(can_jump_to=["model"])
    async def aafter_agent(
        self, state: AgentState[Any], runtime: Runtime[Any]
    ) -> dict[str, Any] | None:
        """The same, without a thread for it."""
        return self.after_agent(state, runtime)

    # --- for reviewers

    def is_enabled(self, request: ToolCallRequest) -> bool:
        """Whether the conversation has enabled the called tool: for `InterruptOnConfig(when=...)`.

        So that nobody is asked to review a call that will be refused. It depends on the
        conversation alone, so it is still the same when the run resumes.
        """
        return self._gate.is_enabled(request)


class _NothingDirect(DeferredToolsMiddleware):
    """For tools none of which is to be returned directly."""

    before_model = AgentMiddleware.before_model
    abefore_model = AgentMiddleware.abefore_model

    @property
    def name(self) -> str:
        """The name under which everybody knows it."""
        return DeferredToolsMiddleware.__name__
