"""One call of the model's: nothing runs that the session may not call."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass, replace
from typing import Any

from llama_index.core.tools import BaseTool, ToolOutput
from llama_index.core.workflow import Context
from llama_index_instrumentation.dispatcher import active_instrument_tags
from workflows.runtime.types.results import WaitingForEvent

from deferred_tools.approval import Approve
from deferred_tools.dispatch import Admitted
from deferred_tools.errors import DeferredToolsError, HostError, ModelError
from deferred_tools.nesting import expose, running
from deferred_tools.search import SearchOutcome
from deferred_tools.search_request import NAME
from deferred_tools.session import Session
from deferred_tools.toolset import Toolset
from llama_index.tools.deferred.approving import with_host
from llama_index.tools.deferred.content import failure, from_output, to_output
from llama_index.tools.deferred.ledger import Kept, Ledger, digest
from llama_index.tools.deferred.source import LlamaIndexTool, raised, run_tool


def run_of() -> str:
    """The id of the workflow's run that this step is of; "" outside of one."""
    return str(active_instrument_tags.get().get("llamaindex.run_id", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """Answers the calls of one step."""

    toolset: Toolset
    ctx: Context[Any]
    ledger: Ledger
    session: Session
    """As it was when the model was asked, in the hands of who runs it now."""
    kept: Kept
    """What the store holds."""
    turn: str
    """Names the turn that searches are counted in; "" for no bound."""

    async def answer(self, name: str, arguments: dict[str, Any]) -> ToolOutput:
        """Answer a call of `tool_search` or of a deferred tool.

        What cannot run is told to the model.

        Raises:
            WaitingForEvent: A human is to answer first; the step runs again then.
        """
        try:
            if name == NAME:
                return await self._search(arguments)
            return await self._call(name, arguments)
        except (ModelError, HostError) as error:
            return failure(error, name=name, arguments=arguments)

    async def answer_own(self, tool: BaseTool, arguments: dict[str, Any]) -> ToolOutput:
        """Run one of the agent's own tools, which may hold agents of its own.

        Raises:
            WaitingForEvent: It waits for a human.
        """
        return await self._within(self.session, run_tool(tool, arguments, self.ctx))

    async def _search(self, arguments: dict[str, Any]) -> ToolOutput:
        async def search(approve: Approve) -> SearchOutcome:
            # In a thread: a retriever may ask a model.
            return await asyncio.to_thread(
                self.toolset.search,
                self.session,
                arguments,
                turn=self.turn,
                position=self._place(arguments),
                approve=approve,
            )

        outcome = await with_host(self.ctx, [NAME, arguments], search)
        await self.ledger.add(outcome.session)
        return ToolOutput(
            tool_name=NAME,
            content=outcome.text,
            raw_input={"kwargs": arguments},
            raw_output=outcome.data,
            is_error=outcome.refused,
        )

    def _place(self, arguments: dict[str, Any]) -> int:
        """The place of a search among those that the model asked for side by side."""
        one = digest(arguments)
        if one in self.kept.searches:
            return self.kept.searches.index(one)
        before = set(self.kept.session.searches)
        return len({s for change in self.kept.changes for s in change.searches} - before)

    async def _call(self, name: str, arguments: dict[str, Any]) -> ToolOutput:
        async def check(approve: Approve) -> Admitted:
            return self.toolset.check(self.session, name, arguments, approve=approve)

        admitted = await with_host(self.ctx, [name, arguments], check)
        session = self.toolset.called(admitted.session, [admitted.entry.spec.name])
        # Before it runs, so that a crash does not forget what it may have read.
        await self.ledger.add(session)
        return await self._within(session, self._run(admitted, session, arguments))

    async def _within(self, session: Session, run: Awaitable[ToolOutput]) -> ToolOutput:
        """Run a tool, and note what agents in it were exposed to, for who asks this one, too."""
        try:
            with running(session) as call:
                return await run
        finally:  # whatever came of it: what has been read has been read
            if call.session != session:
                await self.ledger.add(call.session)
            expose(call.session.exposed)

    async def _run(
        self, admitted: Admitted, session: Session, arguments: dict[str, Any]
    ) -> ToolOutput:
        spec, tool = admitted.entry.spec, admitted.entry.tool
        if not isinstance(tool, LlamaIndexTool):
            try:
                result = await self.toolset.acall(session, spec.name, arguments, run=run_of())
            except (WaitingForEvent, DeferredToolsError):
                raise
            except Exception as error:  # noqa: BLE001 - the output holds it
                return raised(error, name=spec.name, arguments=arguments)
            return to_output(result, name=spec.name, arguments=arguments)
        # The original runs, whose output may hold what no other form does, such as nodes.
        output = await tool.run(admitted.arguments, self.ctx)
        self.toolset.plugins.tell(
            "deferred_tools_called",
            caller=session.caller,
            name=spec.name,
            result=replace(from_output(output), notes=admitted.notes),
        )
        return output
