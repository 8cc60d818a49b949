"""What stands in an agent's `tool_retriever` slot: it gives the tool for each call.

LlamaIndex asks the slot before each call of the model, with the user's message, and before each
call of a tool, with the tool's name. Which of them it is cannot be told, as a user may say just a
tool's name. So it is always taken for a name, and `take_step` of an attached agent leaves what
comes of it aside, and binds what is enabled itself.
"""

from typing import TYPE_CHECKING, Any, TypeGuard

from llama_index.core.agent.workflow import BaseWorkflowAgent
from llama_index.core.objects import ObjectRetriever
from llama_index.core.tools import BaseTool, ToolMetadata, ToolOutput
from llama_index.core.workflow import Context, WorkflowRuntimeError

from llama_index.tools.deferred.answered import AnsweredTool
from llama_index.tools.deferred.session import DeferredToolSession

if TYPE_CHECKING:
    from llama_index.tools.deferred.deferred import DeferredTools


class CallRetriever(ObjectRetriever[BaseTool]):
    """Answers for one attached agent."""

    def __init__(self, deferred: "DeferredTools", agent: BaseWorkflowAgent) -> None:
        """Take the tools, and the agent; there is no index behind it, as its base class has."""
        self._deferred = deferred
        self._agent = agent

    def of(self, agent: BaseWorkflowAgent) -> "CallRetriever":
        """Itself; for a copy of its agent, which may have other tools, one of the copy's own."""
        return self if agent is self._agent else CallRetriever(self._deferred, agent)

    def session(self, ctx: Context[Any]) -> DeferredToolSession:
        """The agent's part of the conversation."""
        return DeferredToolSession(self._deferred, ctx, agent=self._agent.name)

    async def aretrieve(self, str_or_query_bundle: Any) -> list[BaseTool]:
        """The tool that is to answer a call of that name."""
        name = str(getattr(str_or_query_bundle, "query_str", str_or_query_bundle))
        try:
            session = self.session(Context.get_step_context())
        except WorkflowRuntimeError:  # somebody looks at the agent outside of a run
            return []
        # Its own, too, so that an agent within one is told of this conversation. But not the
        # `handoff` of a team, which comes after what is found here.
        own = [tool for tool in self._agent.tools or [] if _is(tool, name)]
        direct = await session.return_direct(name)
        metadata = own[0].metadata if own else ToolMetadata("", name, return_direct=direct)

        async def answer(arguments: dict[str, Any]) -> ToolOutput:
            return await session.call(name, arguments, *own)

        return [AnsweredTool(metadata, answer)]

    def retrieve(self, str_or_query_bundle: Any) -> list[BaseTool]:
        """Nothing: agents are async."""
        return []


def _is(tool: object, name: str) -> TypeGuard[BaseTool]:
    return isinstance(tool, BaseTool) and tool.metadata.name == name
