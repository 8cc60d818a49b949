"""`tool_search`: policy first, then rank, then enable. Pure: a session in, an outcome out."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from html import escape
from typing import Any

from deferred_tools.limits import Limits
from deferred_tools.policy import CallerKind
from deferred_tools.registry import Registry
from deferred_tools.retrievers.base import Retriever
from deferred_tools.search_request import SearchRequest
from deferred_tools.session import Session
from deferred_tools.sources.base import SourceStatus
from deferred_tools.spec import SEPARATOR, ToolSpec, ToolSummary


class MissReason(StrEnum):
    """Why something was not enabled."""

    NO_MATCH = "no_match"
    SERVER_CONNECTING = "server_connecting"
    SERVER_UNAVAILABLE = "server_unavailable"
    AUTH_REQUIRED = "auth_required"
    DISABLED = "disabled"
    LIMIT_REACHED = "limit_reached"


_REASONS = {
    SourceStatus.CONNECTING: MissReason.SERVER_CONNECTING,
    SourceStatus.UNAVAILABLE: MissReason.SERVER_UNAVAILABLE,
    SourceStatus.AUTH_REQUIRED: MissReason.AUTH_REQUIRED,
    SourceStatus.DISABLED: MissReason.DISABLED,
}


@dataclass(frozen=True, slots=True)
class Miss:
    """Something asked for that was not enabled, why, and what to try."""

    wanted: str
    reason: MissReason
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOutcome:
    """What a search did. `session` is the conversation's ledger after it."""

    session: Session
    enabled: tuple[ToolSummary, ...] = ()
    already: tuple[ToolSummary, ...] = ()
    misses: tuple[Miss, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The outcome as the model reads it."""
        lines: list[str] = []
        if self.enabled:
            lines.append("Enabled. From your next message on you can call:")
            lines += [_bullet(tool) for tool in self.enabled]
        if self.already:
            lines.append("Already enabled, call directly:")
            lines += [_bullet(tool) for tool in self.already]
        lines += [f"Not enabled ({m.reason.value}): {m.wanted}. {m.hint}" for m in self.misses]
        lines += self.notes
        return "\n".join(lines)

    @property
    def data(self) -> dict[str, Any]:
        """The outcome as plain JSON, without the session."""
        return {
            "enabled": [tool.name for tool in self.enabled],
            "already_enabled": [tool.name for tool in self.already],
            "misses": [{**asdict(miss), "reason": miss.reason.value} for miss in self.misses],
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSearch:
    """Search over one state of the world, as one caller may see it."""

    registry: Registry
    visible: Mapping[str, ToolSpec]
    """By name, what the caller may know of. Nothing else is ranked, named or counted."""
    summaries: Mapping[str, ToolSummary]
    """Level 1 of what is visible, by name."""
    retriever: Retriever
    """Has indexed what is visible, and no more."""
    limits: Limits

    def run(
        self, session: Session, request: SearchRequest, *, turn: str = "", position: int = 0
    ) -> SearchOutcome:
        """Find, and enable what was found for `session.caller`.

        `turn` names the conversation's turn that the search budget counts in (none: searches
        are not counted); `position` is the place of this search among those that the model
        asked for side by side.
        """
        made = len(session.searches_in(turn)) if turn else 0
        if made + position >= self.limits.searches_per_turn:
            return SearchOutcome(session=session, misses=(self._spent(request),))
        wanted, misses = self._by_name(request, session)
        found = self._by_query(request)
        specs = tuple({s.name: s for s in (*wanted, *found)}.values())
        ready = [s for s in specs if self.registry.available(s.name)]
        misses += [self._away(s.name, s.source) for s in specs if s not in ready]
        if request.query and not found:
            misses.append(self._no_match(request.query, session))
        if not request.query and not request.names:
            misses.append(Miss("(nothing)", MissReason.NO_MATCH, "Give `query` or `names`."))
        return self._outcome(session, request, ready, misses, turn=turn, position=position)

    def _outcome(
        self,
        session: Session,
        request: SearchRequest,
        ready: Sequence[ToolSpec],
        misses: list[Miss],
        *,
        turn: str,
        position: int,
    ) -> SearchOutcome:
        most = self.limits.enabled_tools
        held = {e.name: e.digest for e in session.enabled(most)}
        beyond = [s.name for s in ready[most:]]
        ready = ready[:most]
        fresh = [s for s in ready if held.get(s.name) != s.digest]
        kept = [s for s in ready if held.get(s.name) == s.digest]
        names = tuple(s.name for s in ready)
        before = [(s.query, s.found) for s in session.searches_in(turn)]
        after = session.enable([*fresh, *kept], query=request.query, position=position)
        after = after.searched(turn, request.asked, names, position=position)
        notes = list(request.notes)
        if kept and not fresh and (request.asked, names) in before:
            notes.append(f"You have searched this before with the same result: call {names[0]}.")
        dropped = held.keys() - {e.name for e in after.enabled(most)}
        for what, which in (("Not enabled", beyond), ("No longer enabled", sorted(dropped))):
            if which:
                notes.append(f"{what}, since at most {most} tools are at once: {', '.join(which)}.")
        return SearchOutcome(
            session=after,
            enabled=tuple(self.summaries[s.name] for s in fresh),
            already=tuple(self.summaries[s.name] for s in kept),
            misses=tuple(misses),
            notes=tuple(notes),
        )

    def _by_name(
        self, request: SearchRequest, session: Session
    ) -> tuple[list[ToolSpec], list[Miss]]:
        found: list[ToolSpec] = []
        misses: list[Miss] = []
        for name in request.names:
            entry = self.registry.get(name)
            if entry and entry.spec.name in self.visible:
                found.append(entry.spec)
            else:
                misses.append(self._no_name(name, session))
        return found, misses

    def _by_query(self, request: SearchRequest) -> tuple[ToolSpec, ...]:
        if not request.query:
            return ()
        hits = self.retriever.search(request.query, request.limit)
        # A retriever may be a plug-in's: what it may not find, it has not found.
        found = [self.visible[hit.name] for hit in hits if hit.name in self.visible]
        return tuple(found[: request.limit])

    def _no_name(self, name: str, session: Session) -> Miss:
        source = name.split(SEPARATOR, 1)[0]
        view = self.registry.sources.get(source)
        if view and view.state.status in _REASONS and session.caller.kind is CallerKind.ROOT:
            return self._away(name, source)
        return Miss(name, MissReason.NO_MATCH, "Check it in <available_tools>, or give a `query`.")

    def _no_match(self, query: str, session: Session) -> Miss:
        """Nothing found; the application itself is told which servers could not be searched."""
        away = [
            f"{view.name} ({view.state.status.value})"
            for view in self.registry.sources.values()
            if view.state.status in _REASONS and view.state.status is not SourceStatus.DISABLED
        ]
        hint = "Try other words, or a name from <available_tools>."
        if away and session.caller.kind is CallerKind.ROOT:
            hint += f" These servers could not be searched in full: {', '.join(away)}."
        return Miss(query, MissReason.NO_MATCH, hint)

    def _away(self, name: str, source: str) -> Miss:
        state = self.registry.sources[source].state
        hint = {
            SourceStatus.CONNECTING: "Its server is still starting: search again in a moment.",
            SourceStatus.AUTH_REQUIRED: "Its server wants the user to sign in first.",
            SourceStatus.DISABLED: "It was switched off by the host.",
        }.get(state.status, "Its server cannot be reached at present: try again later.")
        return Miss(name, _REASONS[state.status], hint)

    def _spent(self, request: SearchRequest) -> Miss:
        hint = (
            f"{self.limits.searches_per_turn} searches are allowed in one turn. Work with the "
            "tools that are enabled, or tell the user what is missing."
        )
        return Miss(request.asked or "(nothing)", MissReason.LIMIT_REACHED, hint)


def _bullet(tool: ToolSummary) -> str:
    # A server's text is data here too: it cannot look like the end of a block.
    told = escape(tool.description, quote=False)
    return f"- {tool.name}: {told}" if told else f"- {tool.name}"
