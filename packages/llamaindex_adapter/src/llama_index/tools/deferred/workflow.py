"""A LlamaIndex workflow as a workflow tool."""

from collections.abc import Iterable, Mapping
from contextlib import aclosing
from contextvars import ContextVar
from typing import Any

import anyio
from llama_index.core.workflow import HumanResponseEvent, InputRequiredEvent, StopEvent
from llama_index.core.workflow import Workflow as LlamaIndexWorkflow
from pydantic import BaseModel, PydanticUserError
from workflows.events import WorkflowIdleEvent

from deferred_tools.errors import ConfigurationError
from deferred_tools.workflows import Step, Workflow

# A run's tasks start with a copy of Python's context, so that each has its own; a context's
# store, which outlives the process, could not hold a function.
_step: ContextVar[Step | None] = ContextVar("llama_index_deferred_tools_step", default=None)


def workflow_from(
    workflow: LlamaIndexWorkflow,
    *,
    name: str,
    uses: Iterable[str] = (),
    description: str = "",
    input_schema: Mapping[str, Any] | None = None,
    output_schema: Mapping[str, Any] | None = None,
) -> Workflow:
    """`workflow` as a tool: its arguments make the StartEvent, its result is the StopEvent's.

    Steps call tools by `await current_step()(name, arguments)`. Each call of the tool is a run
    with a context of its own, which cannot wait for a human. A StopEvent without a `result`
    gives its fields.

    Args:
        workflow: Any workflow; its timeout stays in force.
        name: The tool's name.
        uses: Names of the tools that the steps call; they can call no others.
        description: What it does, for the model.
        input_schema: JSON Schema of the arguments. Default: that of the fields of the workflow's
            own kind of StartEvent.
        output_schema: JSON Schema of the result. Default: that of the fields of the workflow's
            own kind of StopEvent, if it has some.

    Raises:
        ConfigurationError: The StartEvent tells no arguments, and there is no `input_schema`, or
            the workflow has a step that waits for a human.
    """
    waiting = (InputRequiredEvent, HumanResponseEvent)
    if any(issubclass(event, waiting) for event in workflow.events):
        raise _waits(name)
    given = _fields(workflow.start_event_class) if input_schema is None else input_schema
    if given is None:
        raise ConfigurationError(
            f"the {workflow.start_event_class.__name__} of the workflow {name!r} does not tell "
            "its arguments: let its first step take a StartEvent of your own, with plain fields, "
            "or give `input_schema`"
        )

    async def run(arguments: dict[str, Any], step: Step) -> Any:
        return _result(await _run(workflow, name, arguments, step))

    return Workflow(
        name=name,
        run=run,
        uses=tuple(uses),
        description=description,
        input_schema=given,
        output_schema=_fields(workflow.stop_event_class)
        if output_schema is None
        else output_schema,
    )


def current_step() -> Step:
    """What a step of such a workflow calls tools with; workflows that it runs may, too.

    Raises:
        ConfigurationError: The workflow does not run as a tool.
    """
    step = _step.get()
    if step is None:
        raise ConfigurationError(
            "there are no tools to call, as this workflow was not run as a tool: make one of it "
            "with `workflow_from`, and give that to `Toolset.register_workflow_tools`"
        )
    return step


async def _run(
    workflow: LlamaIndexWorkflow, name: str, arguments: dict[str, Any], step: Step
) -> StopEvent:
    """Run it to its end; nothing of it is left when this is cancelled."""
    token = _step.set(step)
    try:
        handler = workflow.run(start_event=workflow.start_event_class(**arguments))
    finally:
        _step.reset(token)
    try:
        async with aclosing(handler.stream_events(expose_internal=True)) as events:
            async for event in events:
                if isinstance(event, WorkflowIdleEvent):
                    raise _waits(name)
        return await handler.stop_event_result()
    finally:
        if not handler.is_done():
            with anyio.CancelScope(shield=True):
                await handler.cancel_run()


def _waits(name: str) -> ConfigurationError:
    return ConfigurationError(
        f"the workflow {name!r} waits for an event from outside, such as a human's answer, which "
        "nobody can give while it runs as a tool: ask before the tool is called, or run the "
        "workflow by itself"
    )


def _result(stop: StopEvent) -> Any:
    if stop.result is not None:
        return stop.result
    return {name: getattr(stop, name) for name in type(stop).model_fields} or None


def _fields(event: type[BaseModel]) -> dict[str, Any] | None:
    """The schema of an event's fields; None if it has none, or objects of Python's."""
    if not event.model_fields:
        return None
    try:
        return event.model_json_schema()
    except PydanticUserError:
        return None
