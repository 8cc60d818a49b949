"""A LangGraph graph as a workflow tool: needs the extra `langgraph`."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from langgraph.graph.state import CompiledStateGraph
from pydantic import PydanticUserError

from deferred_tools.errors import ConfigurationError
from deferred_tools.workflows import Step, Workflow

_STEP = "deferred_tools_step"


def workflow_from_graph(
    graph: CompiledStateGraph[Any, Any, Any, Any],
    *,
    name: str,
    uses: Iterable[str] = (),
    description: str = "",
    input_schema: Mapping[str, Any] | None = None,
    output_schema: Mapping[str, Any] | None = None,
) -> Workflow:
    """`graph` as a tool: its arguments are the graph's input, its result is the graph's output.

    Nodes call tools by `await step_of(config)(name, arguments)`. Each call runs the graph from
    its start to its end, without a checkpointer: a node cannot wait for a human.

    Args:
        graph: A compiled graph.
        name: The tool's name.
        uses: Names of the tools that the nodes call; they can call no others.
        description: What it does, for the model.
        input_schema: JSON Schema of the arguments. Default: that of the graph's input.
        output_schema: JSON Schema of the result. Default: that of the graph's output, if it is
            plain JSON.

    Raises:
        ConfigurationError: The graph's input is not plain JSON, and there is no `input_schema`.
    """
    alone = graph.copy({"checkpointer": False})
    given = input_schema or _plain(graph.get_input_jsonschema)
    if given is None:
        raise ConfigurationError(
            f"the input of the graph for the workflow {name!r} is not plain JSON, or pydantic "
            "cannot tell (before Python 3.12, of `typing.TypedDict`): give `input_schema`, or "
            "build the graph with a plain input_schema of `typing_extensions.TypedDict`"
        )

    async def run(arguments: dict[str, Any], step: Step) -> Any:
        return await alone.ainvoke(arguments, {"configurable": {_STEP: step}})

    return Workflow(
        name=name,
        run=run,
        uses=tuple(uses),
        description=description,
        input_schema=given,
        output_schema=output_schema or _plain(graph.get_output_jsonschema),
    )


def step_of(config: Mapping[str, Any]) -> Step:
    """What a node of such a graph calls tools with; `config` is the node's own.

    Raises:
        ConfigurationError: The graph does not run as a workflow.
    """
    step: Step | None = (config.get("configurable") or {}).get(_STEP)
    if step is None:
        raise ConfigurationError(
            "there are no steps to call, as this graph was not run as a workflow: make one of it "
            "with `workflow_from_graph`, and give that to `Toolset.register_workflow_tools`"
        )
    return step


def _plain(read: Callable[[], dict[str, Any]]) -> dict[str, Any] | None:
    """The schema, unless it is of objects of Python's, such as messages."""
    try:
        schema = read()
    except PydanticUserError:
        return None
    return None if "$defs" in schema or schema.get("type") != "object" else schema
