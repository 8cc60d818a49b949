"""`tool_search`: policy first, then rank, then enable. Pure: a session in, an outcome out."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from deferred_tools.approval import ApprovalRequest
from deferred_tools.limits import Limits
from deferred_tools.registry import Registry
from deferred_tools.retrievers.base import Retriever
from deferred_tools.search_misses import REFUSED, Miss, Misses, MissReason
from deferred_tools.search_request import SearchRequest
from deferred_tools.session import Session
from deferred_tools.settings import Trifecta
from deferred_tools.spec import ToolSpec, ToolSummary
from deferred_tools.trifecta import completes, reason

_REPEATS = 2
"""Searches with the same outcome that one turn may make."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOutcome:
    """What a search did. `session` is the conversation's ledger after it."""

    session: Session
    enabled: tuple[ToolSummary, ...] = ()
    already: tuple[ToolSummary, ...] = ()
    misses: tuple[Miss, ...] = ()
    notes: tuple[str, ...] = ()
    approvals: tuple[ApprovalRequest, ...] = ()
    """What the host could let through: `Session.approve`, then search again."""

    @property
    def refused(self) -> bool:
        """Whether the search itself was refused, so that it is an error."""
        return any(miss.reason in REFUSED for miss in self.misses)

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
        why = Misses(self.registry, session.caller)
        wanted, misses = self._by_name(request, why)
        found = self._by_query(request)
        specs = tuple({s.name: s for s in (*wanted, *found)}.values())
        ready = [s for s in specs if self.registry.available(s.name)]
        misses += [why.of_tool(s) for s in specs if s not in ready]
        if request.query and not found:
            misses.append(why.of_query(request.query))
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
        ready, held_back = self._held_back(session, ready, held)
        misses += [self._blocked(request) for request in held_back]
        beyond = [s.name for s in ready[most:]]
        ready = ready[:most]
        fresh = [s for s in ready if held.get(s.name) != s.digest]
        kept = [s for s in ready if held.get(s.name) == s.digest]
        names = tuple(s.name for s in ready)
        before = [(s.query, s.found) for s in session.searches_in(turn)].count(
            (request.asked, names)
        )
        # Who was told to search again in a moment does so.
        waits = any(miss.reason is MissReason.SERVER_CONNECTING for miss in misses)
        again = before and not fresh and not waits
        if turn and again and before >= _REPEATS:
            after = session.searched(turn, request.asked, names, position=position)
            return SearchOutcome(session=after, misses=(_repeated(request, names),))
        after = session.enable([*fresh, *kept], query=request.query, position=position)
        after = after.searched(turn, request.asked, names, position=position)
        notes = list(request.notes)
        if again:
            notes.append(f"You have searched this before with the same result: {_instead(names)}.")
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
            approvals=held_back if self.registry.settings.trifecta is Trifecta.ASK else (),
        )

    def _held_back(
        self, session: Session, specs: Sequence[ToolSpec], held: Mapping[str, str]
    ) -> tuple[list[ToolSpec], tuple[ApprovalRequest, ...]]:
        """Those that may be enabled together, best first, and those that complete the trifecta."""
        if self.registry.settings.trifecta is Trifecta.OFF:
            return list(specs), ()
        # What was approved does not take its place away from what was free before.
        counted = held.items() - {(one.name, one.digest) for one in session.approved}
        tags = self.registry.tags_of(name for name, _ in counted) | frozenset(session.exposed)
        free: list[ToolSpec] = []
        back: list[ApprovalRequest] = []
        for spec in specs:
            if held.get(spec.name) == spec.digest or session.approves(spec):
                free.append(spec)
            elif completes(tags, spec.tags):
                back.append(ApprovalRequest(spec, reason(tags, spec.tags)))
            else:
                free.append(spec)
                tags |= spec.tags
        return free, tuple(back)

    def _blocked(self, request: ApprovalRequest) -> Miss:
        if self.registry.settings.trifecta is Trifecta.ASK:
            hint = f"It was not approved for this conversation: {request.reason}."
            return Miss(request.spec.name, MissReason.APPROVAL_NEEDED, hint)
        hint = f"Not in this conversation: {request.reason}. Go on without it, or tell the user."
        return Miss(request.spec.name, MissReason.BLOCKED_BY_POLICY, hint)

    def _by_name(self, request: SearchRequest, why: Misses) -> tuple[list[ToolSpec], list[Miss]]:
        found: list[ToolSpec] = []
        misses: list[Miss] = []
        for name in request.names:
            entry = self.registry.get(name)
            if entry and entry.spec.name in self.visible:
                found.append(entry.spec)
            else:
                misses.append(why.of_name(name))
        return found, misses

    def _by_query(self, request: SearchRequest) -> tuple[ToolSpec, ...]:
        if not request.query:
            return ()
        hits = self.retriever.search(request.query, request.limit)
        # A retriever may be a plug-in's: what it may not find, it has not found.
        found = [self.visible[hit.name] for hit in hits if hit.name in self.visible]
        return tuple(found[: request.limit])

    def _spent(self, request: SearchRequest) -> Miss:
        hint = (
            f"{self.limits.searches_per_turn} searches are allowed in one turn. Work with the "
            "tools that are enabled, or tell the user what is missing."
        )
        return Miss(request.asked or "(nothing)", MissReason.LIMIT_REACHED, hint)


def _repeated(request: SearchRequest, names: Sequence[str]) -> Miss:
    hint = f"It gives the same again and again: {_instead(names)}. Do not search this again."
    return Miss(request.asked or "(nothing)", MissReason.REPEATED, hint)


def _instead(names: Sequence[str]) -> str:
    return f"call {names[0]}" if names else "use other words, or tell the user what is missing"


def _bullet(tool: ToolSummary) -> str:
    # A server's text is data here too: it cannot look like the end of a block.
    told = escape(tool.description, quote=False)
    return f"- {tool.name}: {told}" if told else f"- {tool.name}"
