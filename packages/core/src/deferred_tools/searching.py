"""One `tool_search` call in one world: search, ask the host where it wants to be asked, tell."""

from dataclasses import dataclass
from typing import Any

from deferred_tools.approval import Approve, ask_nobody
from deferred_tools.limits import Limits
from deferred_tools.plugins import Plugins
from deferred_tools.search import SearchOutcome, ToolSearch
from deferred_tools.search_request import SearchRequest
from deferred_tools.session import Session
from deferred_tools.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Searching:
    """Answers searches over one state of the world."""

    world: World
    plugins: Plugins
    limits: Limits

    def answer(
        self,
        session: Session,
        arguments: Any,
        *,
        turn: str = "",
        position: int = 0,
        approve: Approve = ask_nobody,
    ) -> SearchOutcome:
        """Find and enable, whatever the model sent: see `Toolset.search`."""
        view = self.world.view(session.caller)
        request = SearchRequest.parse(arguments, self.limits)
        search = ToolSearch(
            registry=self.world.registry,
            visible=view.by_name,
            summaries=view.summaries,
            retriever=view.retriever,
            limits=self.limits,
        )
        outcome = search.run(session, request, turn=turn, position=position)
        if outcome.approvals and (names := set(approve(outcome.approvals))):
            approved = [a.spec for a in outcome.approvals if a.spec.name in names]
            outcome = search.run(session.approve(approved), request, turn=turn, position=position)
        self._tell(session, request.query, outcome)
        return outcome

    def _tell(self, session: Session, query: str, outcome: SearchOutcome) -> None:
        caller = session.caller
        new = tuple(tool.name for tool in outcome.enabled)
        found = (*new, *(tool.name for tool in outcome.already))
        self.plugins.tell("deferred_tools_searched", caller=caller, query=query, found=found)
        if new:
            self.plugins.tell("deferred_tools_enabled", caller=caller, names=new)
