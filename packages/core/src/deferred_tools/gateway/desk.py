"""What the gateway's tools do, for one client. Knows nothing of MCP's messages or transports."""

import json
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import anyio.to_thread

from deferred_tools.errors import (
    DeferredToolsError,
    InvalidArgumentsError,
    ToolNotEnabledError,
    UnknownToolError,
)
from deferred_tools.gateway.definitions import DEFINITIONS, INSTRUCTIONS, INVOKE, SCHEMA, SEARCH
from deferred_tools.gateway.pinned import Chosen, Pin, choose
from deferred_tools.gateway.signature import signature
from deferred_tools.policy import Caller
from deferred_tools.registry import Registry
from deferred_tools.search import SearchOutcome
from deferred_tools.searching import Searching
from deferred_tools.session import Session
from deferred_tools.settings import Trifecta
from deferred_tools.sources.base import OnProgress, ToolResult
from deferred_tools.spec import ToolSpec, ToolTag
from deferred_tools.toolset import Toolset
from deferred_tools.validation import compile_parameters
from deferred_tools.world import World

_END = "</available_tools>"
_NAME_LENGTH = 256
logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Conversation:
    """Who calls, and what its calls have brought in so far, where that can be known."""

    caller: Caller
    exposed: tuple[ToolTag, ...] = ()


class Desk:
    """Searches and calls over one toolset.

    Nothing is enabled here: what a caller may find it may invoke. So of the trifecta only calls
    count, and those that a `Conversation` knows of.
    """

    def __init__(self, toolset: Toolset, pins: Sequence[Pin]) -> None:
        """Take an open toolset, and the tools that clients see directly."""
        self.toolset = toolset
        self._pins = tuple(pins)
        self._chosen: tuple[Registry | None, Chosen] = (None, Chosen())
        self._parameters = {
            name: compile_parameters(tool["inputSchema"], toolset.limits)
            for name, tool in DEFINITIONS.items()
        }

    @property
    def chosen(self) -> Chosen:
        """What is pinned at this moment, whoever may see it."""
        registry = self.toolset.registry
        known, chosen = self._chosen
        if known is not registry:
            chosen = choose(registry, self._pins)
            self._chosen = (registry, chosen)
        return chosen

    def pinned(self, caller: Caller) -> dict[str, ToolSpec]:
        """The pinned tools that `caller` may see, by the name that it sees."""
        gate = self.toolset.registry.gate
        specs = {name: entry.spec for name, entry in self.chosen.tools.items()}
        visible = {spec.name for spec in gate.visible(caller, specs.values())}
        return {name: spec for name, spec in specs.items() if spec.name in visible}

    async def instructions(self, caller: Caller) -> str:
        """How to use this server, and the level-1 block of what `caller` may see."""
        block = await anyio.to_thread.run_sync(self.toolset.prompt, caller)
        # What follows the block is about another tool. No server can write its end: it is escaped.
        tools, end, _ = block.partition(_END)
        return f"{INSTRUCTIONS}\n\n{tools}{end}" if end else INSTRUCTIONS

    async def answer(
        self,
        who: Conversation,
        name: str,
        arguments: dict[str, Any],
        progress: OnProgress | None = None,
    ) -> ToolResult:
        """Carry out a call of one of the gateway's tools or of a pinned one. Never raises."""
        try:
            return await self._answer(who, name, arguments, progress)
        except DeferredToolsError as error:
            return _failed(_told(error))
        except Exception as error:
            logger.exception("the tool %r failed", name)
            return _failed(f"It stopped with an unexpected {type(error).__name__}.")

    async def _answer(
        self,
        who: Conversation,
        name: str,
        arguments: dict[str, Any],
        progress: OnProgress | None,
    ) -> ToolResult:
        if name == SEARCH:
            return await anyio.to_thread.run_sync(self._search, who.caller, arguments)
        if name == SCHEMA:
            return self._schema(who.caller, self._fitted(name, arguments)["name"])
        if name == INVOKE:
            given = self._fitted(name, arguments)
            return await self._invoke(who, given["name"], given.get("arguments", {}), progress)
        pinned = self.pinned(who.caller).get(name)
        if pinned is None:
            raise UnknownToolError(name)
        return await self._invoke(who, pinned.name, arguments, progress)

    def _fitted(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        fitted = self._parameters[name].fit(arguments)
        if fitted.problems:
            raise InvalidArgumentsError(name, fitted.problems)
        value: dict[str, Any] = fitted.value
        return value

    def _search(self, caller: Caller, arguments: dict[str, Any]) -> ToolResult:
        toolset = self.toolset
        world = _nothing_held_back(toolset.world)
        searching = Searching(world=world, plugins=toolset.plugins, limits=toolset.limits)
        outcome = searching.answer(Session(caller=caller), arguments)
        data = _found(outcome, world.registry)
        text = json.dumps(data, ensure_ascii=False)
        return ToolResult(content=({"type": "text", "text": text},), structured=data)

    def _schema(self, caller: Caller, name: str) -> ToolResult:
        registry = self.toolset.registry
        entry = registry.get(name)
        if entry is None or not registry.gate.allows(caller, entry.spec):
            raise UnknownToolError(name)
        spec = entry.spec
        told: dict[str, Any] = {
            "name": spec.name,
            "title": spec.title,
            "description": spec.description,
            "inputSchema": dict(spec.parameters),
            "outputSchema": dict(spec.output_schema) if spec.output_schema else None,
            "annotations": dict(spec.annotations),
        }
        data = {key: value for key, value in told.items() if value not in ("", None, {})}
        text = json.dumps(data, ensure_ascii=False)
        return ToolResult(content=({"type": "text", "text": text},), structured=data)

    async def _invoke(
        self, who: Conversation, name: str, arguments: Any, progress: OnProgress | None
    ) -> ToolResult:
        registry = self.toolset.registry
        entry = registry.get(name)
        session = Session(caller=who.caller, exposed=who.exposed)
        if entry is not None and registry.gate.allows(who.caller, entry.spec):
            # Noted before it runs, so that calls side by side are held against each other.
            session = self.toolset.called(session.enable([entry.spec]), [name])
            who.exposed = session.exposed
        return await self.toolset.acall(session, name, arguments, progress=progress)


def _nothing_held_back(world: World) -> World:
    """The same, without the gate that enabling has: it would hold back what may be called."""
    settings = world.registry.settings.model_copy(update={"trifecta": Trifecta.OFF})
    return World(replace(world.registry, settings=settings), world.views)


def _found(outcome: SearchOutcome, registry: Registry) -> dict[str, Any]:
    return {
        "tools": [
            {
                "name": tool.name,
                "description": tool.description,
                "arguments": signature(registry.tools[tool.name].spec.parameters),
            }
            for tool in outcome.enabled
        ],
        "misses": [{**asdict(miss), "reason": miss.reason.value} for miss in outcome.misses],
        "notes": list(outcome.notes),
    }


def _told(error: DeferredToolsError) -> str:
    """What a model reads, where the usual text names tools that clients here do not have."""
    if isinstance(error, UnknownToolError):
        return (
            f"There is no tool named {_short(error.name)!r} available to you. Call `{SEARCH}` with "
            f"what you need to do, and run what it finds with `{INVOKE}`."
        )
    if isinstance(error, ToolNotEnabledError):
        return (
            f"{error.name!r} changed just now, so it was not run. Read it again with `{SCHEMA}`, "
            "then call it anew."
        )
    return str(error)


def _short(name: str) -> str:
    return name if len(name) <= _NAME_LENGTH else f"{name[:_NAME_LENGTH]}…"


def _failed(text: str) -> ToolResult:
    return ToolResult(content=({"type": "text", "text": text},), is_error=True)
