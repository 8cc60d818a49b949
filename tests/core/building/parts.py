"""What registries are made of here, a line each."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from deferred_tools import Registry, SourceState, SourceStatus, Tier, Tool
from deferred_tools.errors import RegistryBuildError
from deferred_tools.registered import SourceView
from deferred_tools.settings import Settings
from deferred_tools.testing.sources import ScriptedTool
from deferred_tools.workflows import Step, Workflow


def server(
    name: str,
    *tools: str | Tool,
    tier: Tier = Tier.MCP,
    status: SourceStatus = SourceStatus.READY,
    reason: str = "",
) -> SourceView:
    made = tuple(ScriptedTool(tool) if isinstance(tool, str) else tool for tool in tools)
    return SourceView(
        name=name, tier=tier, state=SourceState(status=status, tools=made, reason=reason)
    )


def away(name: str, *tools: str | Tool) -> SourceView:
    return server(name, *tools, status=SourceStatus.UNAVAILABLE, reason="it does not answer")


def own(*tools: str | Tool, name: str = "functions") -> SourceView:
    return server(name, *tools, tier=Tier.CODE)


async def nothing(arguments: dict[str, Any], step: Step) -> str:
    return "done"


def workflow(name: str, *uses: str) -> Workflow:
    return Workflow(name=name, run=nothing, uses=uses)


def build(
    settings: Mapping[str, Any],
    *sources: SourceView,
    previous: Registry | None = None,
    workflows: Sequence[Workflow] = (),
) -> Registry:
    chosen = Settings.from_dict(settings)
    return Registry.build(chosen, sources, previous=previous, workflows=workflows)


def problems(
    settings: Mapping[str, Any], *sources: SourceView, workflows: Sequence[Workflow] = ()
) -> tuple[str, ...]:
    with pytest.raises(RegistryBuildError) as raised:
        build(settings, *sources, workflows=workflows)
    return raised.value.problems
