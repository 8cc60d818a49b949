"""One conversation's tools in a workflow of your own; attached agents use it too."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from llama_index.core.tools import (
    AsyncBaseTool,
    BaseTool,
    ToolOutput,
    ToolSelection,
    adapt_to_async_tool,
)
from llama_index.core.workflow import Context

from deferred_tools.own_names import own_names
from deferred_tools.registered import RegisteredTool
from deferred_tools.search_request import DESCRIPTION, NAME, PARAMETERS
from deferred_tools.session import Session
from llama_index.tools.deferred.answered import AnsweredTool
from llama_index.tools.deferred.calling import Calls, run_of
from llama_index.tools.deferred.content import failure
from llama_index.tools.deferred.ledger import Kept, Ledger
from llama_index.tools.deferred.schema import metadata_of
from llama_index.tools.deferred.settled import problem_in
from llama_index.tools.deferred.source import LlamaIndexTool

if TYPE_CHECKING:
    from llama_index.tools.deferred.deferred import DeferredTools


class DeferredToolSession:
    """Everything around the model's call in a step of a workflow.

        session = DeferredToolSession(deferred, ctx)
        system = ChatMessage(role="system", content=await session.system_block())
        response = await llm.achat_with_tools(await session.tools(*own), chat_history=[system, ...])
        for call in llm.get_tool_calls_from_response(response, error_on_no_tool_call=False):
            output = await session.call(call.tool_name, call.tool_kwargs)

    All that it knows lies in the context's store, so make one wherever it is needed. With a model
    by `exact_calls`, calls that were cut off or merged are refused like any other that cannot run.
    """

    def __init__(
        self, deferred: "DeferredTools", ctx: Context[Any], *, agent: str = "", turn: str = ""
    ) -> None:
        """Take the tools, and the context of the step that runs.

        Args:
            deferred: The tools.
            ctx: The step's context; a typed state must derive from `DeferredToolState`.
            agent: Whose set of enabled tools it is, unless the conversation shares one.
            turn: Names the user's turn, in which searches are counted. Default: the workflow's
                run.
        """
        self._deferred = deferred
        self._toolset = deferred.toolset
        self._ctx = ctx
        self._ledger = Ledger(ctx.store, deferred.scope_of(agent))
        self._turn = turn
        self._own: dict[str, BaseTool] = {}

    async def system_block(self) -> str:
        """The `<available_tools>` block for who runs the workflow; "" if nothing is available."""
        await self._toolset.aopen()
        return self._toolset.prompt(await self._deferred.caller(self._ctx))

    async def tools(self, *own: BaseTool) -> list[AsyncBaseTool]:
        """What to bind in the coming call of the model: `own`, `tool_search` and what is enabled.

        Call it while no call of the conversation is running: what was enabled since the last time
        can be called from here on.

        Raises:
            ConfigurationError: Two tools share a name, or the state cannot hold the ledger.
        """
        await self._toolset.aopen()
        names = [tool.metadata.get_name() for tool in own]
        taken = own_names(self._toolset.registry, names)
        self._own = dict(zip(names, own, strict=True))
        caller = await self._deferred.caller(self._ctx)
        settled = (await self._ledger.settle()).for_caller(caller)
        bound = self._toolset.bound(self._deferred.inheritance.added_to(settled))
        free = (entry for entry in bound if entry.spec.name not in taken)
        return [*map(adapt_to_async_tool, own), *map(self._answered, [None, *free])]

    async def asked(self, *calls: ToolSelection) -> None:
        """Tell which calls the model has made in one message, in their order, before they run.

        Calls side by side do not see each other run, so each is to know what all of them bring
        into the conversation, and a search its place.
        """
        kept, session = await self._read()
        calls = tuple(call for call in calls if problem_in(call.tool_kwargs) is None)
        names = [call.tool_name for call in calls if call.tool_name not in self._own]
        brought = kept.session.exposed_to(self._toolset.called(session, names).exposed)
        if brought is not kept.session:
            await self._ledger.add(brought)
        searches = [call.tool_kwargs for call in calls if call.tool_name == NAME]
        if len(searches) > 1:
            await self._ledger.expect(searches)

    async def call(self, name: str, kwargs: Mapping[str, Any], *own: BaseTool) -> ToolOutput:
        """Answer one call of the model; calls may run side by side.

        `own` are your own tools, unless `tools` of this object has been given them. What cannot
        run is told to the model by an output with `is_error`.

        Raises:
            WaitingForEvent: A human is to answer first; let it reach the workflow.
        """
        problem = problem_in(kwargs)
        if problem is not None:
            return failure(problem, name=name, arguments={})
        mine = self._own | {tool.metadata.get_name(): tool for tool in own}
        calls = await self._calls()
        if name in mine:
            return await calls.answer_own(mine[name], dict(kwargs))
        return await calls.answer(name, dict(kwargs))

    async def return_direct(self, name: str) -> bool:
        """Whether the result of a deferred tool is to be given to the user as it is."""
        await self._toolset.aopen()
        return _direct(self._toolset.registry.get(name))

    async def _calls(self) -> Calls:
        await self._toolset.aopen()
        kept, session = await self._read()
        return Calls(
            toolset=self._toolset,
            ctx=self._ctx,
            ledger=self._ledger,
            kept=kept,
            session=session,
            turn=self._turn or run_of(),
        )

    async def _read(self) -> tuple[Kept, Session]:
        """What the store holds, and what it comes to in the hands of who runs the workflow now."""
        kept = await self._ledger.read()
        session = kept.session.for_caller(await self._deferred.caller(self._ctx))
        return kept, self._deferred.inheritance.added_to(session.exposed_to(kept.exposed))

    def _answered(self, entry: RegisteredTool | None) -> AnsweredTool:
        """A deferred tool as the model sees it; `tool_search` for None."""
        if entry is None:
            metadata = metadata_of(name=NAME, description=DESCRIPTION, parameters=PARAMETERS)
        else:
            spec = entry.spec
            metadata = metadata_of(
                name=spec.name,
                description=spec.description or spec.title or spec.name,
                parameters=spec.parameters,
                return_direct=_direct(entry),
            )
        return AnsweredTool(metadata, partial(self.call, metadata.get_name()))


def _direct(entry: RegisteredTool | None) -> bool:
    tool = entry.tool if entry else None
    return isinstance(tool, LlamaIndexTool) and tool.return_direct
