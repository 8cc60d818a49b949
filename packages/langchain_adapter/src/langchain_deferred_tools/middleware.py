"""Deferred tools for `create_agent`: needs the extra `agents`."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, NotRequired, cast

from langchain.agents.middleware import hook_config
from langchain.agents.middleware.types import (
    AgentMiddleware,
    AgentState,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    PrivateStateAttr,
)
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langgraph.config import get_config
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.runtime import Runtime
from langgraph.types import Command

from deferred_tools.policy import Caller
from deferred_tools.session import Session
from deferred_tools.toolset import Toolset
from langchain_deferred_tools.delivery import check_state, tools_to_bind, with_block
from langchain_deferred_tools.gate import Answer, CallerOf, Gate
from langchain_deferred_tools.search_tool import SearchTool
from langchain_deferred_tools.state import STATE_KEY, dump_session, last_calls, merge_sessions

_DIRECT = "deferred_tools_return_direct"
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

    def __init__(self, toolset: Toolset, *, caller: Caller | CallerOf | None = None) -> None:
        """Use `toolset`; nothing is opened yet.

        Args:
            toolset: May be shared by any number of agents.
            caller: Who runs the agent, or a function from the run's context and config to that.
                Where the function gives None or fails, nothing is available. Default: root.
        """
        super().__init__()
        self.toolset = toolset
        self.tools = [SearchTool()]
        self._gate = Gate(toolset, Caller.root() if caller is None else caller)

    # --- the model's call

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> Handled:
        """Bind enabled tools and list the others."""
        self.toolset.open()
        session = self._session(request)
        return _used(session, handler(self._prepared(session, request)))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> Handled:
        """Bind enabled tools and list the others."""
        await self.toolset.aopen()
        session = self._session(request)
        return _used(session, await handler(self._prepared(session, request)))

    def _session(self, request: ModelRequest[Any]) -> Session:
        config = cast("Mapping[str, Any]", get_config())
        return self._gate.session(request.state, request.runtime.context, config)

    def _prepared(self, session: Session, request: ModelRequest[Any]) -> ModelRequest[Any]:
        check_state(request.state["messages"], session)
        return request.override(
            tools=tools_to_bind(self.toolset, session, request.tools),
            system_message=with_block(request.system_message, self.toolset.prompt(session.caller)),
        )

    # --- the tools' calls

    def wrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Answer]
    ) -> Answer:
        """Run what may run."""
        self.toolset.open()
        admitted = self._gate.admit(request, sync=True)
        if not isinstance(admitted, ToolCallRequest):
            return admitted
        return _marked(admitted, self._gate.ran(request, handler(admitted)))

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Answer]]
    ) -> Answer:
        """Run what may run."""
        await self.toolset.aopen()
        admitted = self._gate.admit(request, sync=False)
        if not isinstance(admitted, ToolCallRequest):
            return admitted
        return _marked(admitted, self._gate.ran(request, await handler(admitted)))

    # --- return_direct, which create_agent knows only of tools that it was made with

    @hook_config(can_jump_to=["end"])
    def before_model(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """End after calls that were all to be returned directly."""
        answers = _answers(state["messages"])
        direct = bool(answers) and all(_is_direct(message) for message in answers)
        return {"jump_to": "end"} if direct else None

    @hook_config(can_jump_to=["model"])
    def after_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Go on where the agent ended for one direct answer among others."""
        answers = _answers(state["messages"])
        mixed = any(_is_direct(m) for m in answers) and not all(_is_direct(m) for m in answers)
        return {"jump_to": "model"} if mixed else None


def _used(session: Session, response: ModelResponse[Any]) -> Handled:
    """Note which enabled tools the model called, so that the least recently used leaves first."""
    called = [
        call["name"]
        for message in response.result
        if isinstance(message, AIMessage)
        for call in message.tool_calls
    ]
    touched = session.touch(called)
    if touched is session:
        return response
    return ExtendedModelResponse(response, Command(update={STATE_KEY: dump_session(touched)}))


def _marked(request: ToolCallRequest, answer: Answer) -> Answer:
    """Note on the answer that its tool wants it returned directly."""
    if request.tool is None or not request.tool.return_direct:
        return answer
    if not isinstance(answer, ToolMessage) or answer.status == "error":
        return answer
    metadata = {**answer.response_metadata, _DIRECT: True}
    return answer.model_copy(update={"response_metadata": metadata})


def _is_direct(message: ToolMessage) -> bool:
    return bool(message.response_metadata.get(_DIRECT))


def _answers(messages: list[AnyMessage]) -> list[ToolMessage]:
    """The tools' answers since the model's last message, if there is nothing else."""
    model, after = last_calls(messages)
    answers = [message for message in after if isinstance(message, ToolMessage)]
    return answers if model is not None and len(answers) == len(after) else []
