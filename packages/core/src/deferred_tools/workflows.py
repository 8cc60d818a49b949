"""A host's own procedures as tools. Their tags are derived from what their steps reach.

Were tags declared, the one gate that sees what a procedure can do would believe what the
procedure says of itself. Known to the registry before the first turn, and never added to.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from deferred_tools.errors import ConfigurationError, HostError, ModelError, StepFailedError
from deferred_tools.sources.base import ToolResult
from deferred_tools.sources.functions import as_result
from deferred_tools.spec import Tier, ToolSpec, ToolTag

WORKFLOWS = "workflows"
"""The namespace of workflow tools."""
Step = Callable[[str, dict[str, Any]], Awaitable[ToolResult]]
"""Calls a tool by its model-facing name, through policy and validation, as any call.

Raises `ModelError` or `HostError` as `Toolset.acall` does.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workflow:
    """A procedure that a host offers as one tool."""

    name: str
    run: Callable[[dict[str, Any], Step], Awaitable[Any]]
    """Takes the arguments, and what calls the tools that it uses."""
    uses: tuple[str, ...] = ()
    """Names of the tools that its steps call; of other workflows too. It can call no others."""
    description: str = ""
    input_schema: Mapping[str, Any] | None = None
    output_schema: Mapping[str, Any] | None = None
    tags: frozenset[ToolTag] = field(default=frozenset())
    """Must be left empty: tags are derived."""

    @property
    def spec(self) -> ToolSpec:
        """What it says of itself, its tags still to be derived."""
        return ToolSpec(
            source=WORKFLOWS,
            tool=self.name,
            description=self.description,
            input_schema=self.input_schema,
            output_schema=self.output_schema,
            tier=Tier.CONTRACT,
        )


@dataclass(frozen=True, slots=True)
class WorkflowTool:
    """A workflow behind the seam of tools; whoever calls it hands it its steps."""

    workflow: Workflow
    step: Step | None = None

    @property
    def spec(self) -> ToolSpec:
        """What the workflow says of itself, its tags still to be derived."""
        return self.workflow.spec

    async def call(self, arguments: dict[str, Any]) -> ToolResult:
        """Run the procedure once.

        Raises:
            ConfigurationError: It was not given its steps.
            StepFailedError: It let the error of a step go through.
        """
        if self.step is None:
            raise ConfigurationError(
                f"the workflow {self.workflow.name!r} can only be called through a Toolset"
            )
        try:
            return as_result(await self.workflow.run(arguments, self.step))
        except (ModelError, HostError) as error:
            # Whoever may call the workflow may not know of the tools that it uses.
            raise StepFailedError(self.workflow.name) from error


def problems_of(workflows: Iterable[Workflow]) -> list[str]:
    """What is wrong with workflows in themselves: names, declared tags, cycles."""
    by_name: dict[str, Workflow] = {}
    found = []
    for workflow in workflows:
        if workflow.name in by_name:
            found.append(f"two workflows are named {workflow.name!r}: rename one")
        if workflow.tags:
            found.append(
                f"the workflow {workflow.name!r} declares tags, which are derived from the tools "
                "that it uses: remove them"
            )
        by_name[workflow.name] = workflow
    return found + [
        f"the workflow {name!r} uses itself, at once or through others: break the cycle"
        for name in by_name
        if name in reached(name, by_name)
    ]


def reached(start: str, workflows: Mapping[str, Workflow]) -> tuple[str, ...]:
    """The names of what a workflow uses, through other workflows too, which are among them."""
    found: dict[str, None] = {}
    todo = [start]
    while todo:
        workflow = workflows.get(todo.pop())
        new = [name for name in (workflow.uses if workflow else ()) if name not in found]
        found.update(dict.fromkeys(new))
        todo += new
    return tuple(found)
