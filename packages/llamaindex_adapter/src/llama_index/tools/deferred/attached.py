"""An agent's class with deferred tools: the class that it has, but for one step.

`take_step` is the one place that sees the context, the prompt and the tools of each call of the
model, alone as in `AgentWorkflow`. The class keeps its name, by which runtimes and stores know
the workflow.
"""

import functools
import types
from collections.abc import Sequence
from typing import Any, cast

from llama_index.core.agent.react.formatter import ReActChatFormatter
from llama_index.core.agent.workflow import AgentOutput, BaseWorkflowAgent, ReActAgent
from llama_index.core.llms import ChatMessage, MessageRole, TextBlock
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.tools import AsyncBaseTool

from llama_index.tools.deferred.actions import WholeActions
from llama_index.tools.deferred.answered import AnsweredTool
from llama_index.tools.deferred.retriever import CallRetriever
from llama_index.tools.deferred.stream import exact_calls


@functools.cache
def attached(kind: type[BaseWorkflowAgent]) -> type[BaseWorkflowAgent]:
    """A subclass of `kind` whose agents are told of deferred tools, and given enabled ones.

    Its agents have a `CallRetriever`.
    """

    async def take_step(
        self: BaseWorkflowAgent,
        ctx: Any,
        llm_input: list[ChatMessage],
        tools: Sequence[AsyncBaseTool],
        memory: Any,
    ) -> AgentOutput:
        retriever = self.tool_retriever
        if not isinstance(retriever, CallRetriever):  # somebody has taken it out again
            return await kind.take_step(self, ctx, llm_input, tools, memory)
        self.tool_retriever = retriever = retriever.of(self)
        session = retriever.session(ctx)
        bound = await session.tools(*(t for t in tools if not isinstance(t, AnsweredTool)))
        block = await session.system_block()
        agent = self
        if isinstance(self.llm, FunctionCallingLLM):
            self.llm = exact_calls(self.llm)
        if isinstance(self, ReActAgent):  # which makes the system message itself
            changed = {
                "formatter": _Listing.of(self.formatter, block),
                "output_parser": WholeActions(self.output_parser),
            }
            agent = self.model_copy(update=changed)
        else:
            llm_input = with_block(llm_input, block)
        output = await kind.take_step(agent, ctx, llm_input, bound, memory)
        await session.asked(*output.tool_calls)
        return output

    names = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    made = types.new_class(
        kind.__name__,
        (kind,),
        exec_body=lambda space: space.update({**names, "take_step": take_step}),
    )
    return cast("type[BaseWorkflowAgent]", made)


def with_block(messages: Sequence[ChatMessage], block: str) -> list[ChatMessage]:
    """`messages` with the level-1 block at the end of the system message that they begin with."""
    first = messages[0] if messages and messages[0].role == MessageRole.SYSTEM else None
    if not block:
        return list(messages)
    if first is None:
        return [ChatMessage(role=MessageRole.SYSTEM, content=block), *messages]
    *before, last = first.blocks or [TextBlock(text="")]
    if isinstance(last, TextBlock) and last.text:
        text = TextBlock(text=f"{last.text}\n\n{block}")
        blocks = [*before, text]
    else:
        blocks = [*first.blocks, TextBlock(text=block)]
    # A copy: the message may be the one in the user's memory.
    return [first.model_copy(update={"blocks": blocks}), *messages[1:]]


class _Listing(ReActChatFormatter):
    """Formats as another formatter does, and adds the block."""

    inner: ReActChatFormatter
    block: str

    @classmethod
    def of(cls, inner: ReActChatFormatter, block: str) -> "_Listing":
        return cls(
            inner=inner,
            block=block,
            system_header=inner.system_header,
            context=inner.context,
            observation_role=inner.observation_role,
        )

    def format(self, *args: Any, **kwargs: Any) -> list[ChatMessage]:
        return with_block(self.inner.format(*args, **kwargs), self.block)
