"""A source and a tool that do what they are told: to test what lies above them.

source = ScriptedSource("github", ready(ScriptedTool("create_issue")))
with Toolset.from_sources(source) as toolset:
    source.push(SourceState(status=SourceStatus.UNAVAILABLE, reason="it is away"))
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from deferred_tools.limits import Limits
from deferred_tools.sources.base import Report, SourceState, SourceStatus, Tool, ToolResult
from deferred_tools.spec import Tier, ToolSpec

Answer = Callable[[dict[str, Any]], Awaitable[ToolResult]]


class ScriptedTool:
    """A tool that notes each call in `calls` and answers as it was told."""

    def __init__(
        self,
        tool: str,
        description: str = "",
        *,
        input_schema: Mapping[str, Any] | None = None,
        output_schema: Mapping[str, Any] | None = None,
        answer: Answer | ToolResult | None = None,
    ) -> None:
        """Take what the tool says of itself and its `answer` (default: an empty result)."""
        # Which source and tier it is of, the registry takes from the source that reports it.
        self.spec = ToolSpec(
            source="scripted",
            tool=tool,
            description=description,
            input_schema=input_schema,
            output_schema=output_schema,
        )
        self.calls: list[dict[str, Any]] = []
        self._answer = answer or ToolResult()

    async def call(self, arguments: dict[str, Any]) -> ToolResult:
        """Note the call and give the answer. Raises whatever the answer raises."""
        self.calls.append(arguments)
        if isinstance(self._answer, ToolResult):
            return self._answer
        return await self._answer(arguments)


class ScriptedSource:
    """A source that reports the states, and raises the errors, of a script that may grow.

    Each `run` plays the script from its start and then waits for more.
    """

    def __init__(self, name: str, *script: SourceState | Exception, tier: Tier = Tier.MCP) -> None:
        """Take the source's namespace and what it does first; nothing leaves it connecting."""
        self.name = name
        self.tier = tier
        self._script = list(script)
        self._wake: Callable[[], object] = _nobody

    async def run(self, report: Report, limits: Limits) -> None:
        """Play the script until cancelled, or until it raises."""
        grown = asyncio.Event()
        self._wake = partial(asyncio.get_running_loop().call_soon_threadsafe, grown.set)
        played = 0
        try:
            while True:
                grown.clear()
                while played < len(self._script):
                    step = self._script[played]
                    played += 1
                    if isinstance(step, Exception):
                        raise step
                    report(step)
                await grown.wait()
        finally:
            self._wake = _nobody

    def push(self, *steps: SourceState | Exception) -> None:
        """Add to the script, from any thread; a source that runs plays it at once."""
        self._script.extend(steps)
        self._wake()


def ready(*tools: Tool) -> SourceState:
    """The state of a source that offers `tools` and can take calls."""
    return SourceState(status=SourceStatus.READY, tools=tools)


def _nobody() -> None:
    """Who is woken while the source does not run."""
