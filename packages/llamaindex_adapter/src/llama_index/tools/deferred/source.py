"""LlamaIndex tools as ours. The original object is kept, and run as LlamaIndex's agents run it."""

import re
from collections.abc import Mapping
from typing import Any

from llama_index.core.tools import (
    BaseTool,
    FunctionTool,
    ToolMetadata,
    ToolOutput,
    adapt_to_async_tool,
)
from llama_index.core.tools.tool_spec.base import BaseToolSpec
from llama_index.core.workflow import Context, WorkflowRuntimeError
from workflows.runtime.types.results import WaitingForEvent

from deferred_tools.errors import ConfigurationError, SourceUnavailableError
from deferred_tools.sources.base import ToolResult
from deferred_tools.spec import Tier, ToolSpec
from llama_index.tools.deferred.content import from_output

# What follows the name on the first line of a description that LlamaIndex wrote itself.
_SIGNATURE = re.compile(r"\((?:[^()\n]|\([^()\n]*\))*\)(?: -> [^\n]+)?(?:\n|$)")


class LlamaIndexTool:
    """A `BaseTool` behind our seam. Agents of LlamaIndex's `run` it, others `call` it."""

    def __init__(self, original: BaseTool, source: str = "functions") -> None:
        """Read what the tool says of itself.

        Raises:
            ConfigurationError: It has no name, or its arguments have no JSON Schema.
        """
        self.original = original
        metadata = original.metadata
        if not metadata.name:
            raise ConfigurationError(
                f"{type(original).__name__} of LlamaIndex has no name that a model could call: "
                "set it in its ToolMetadata"
            )
        self.spec = ToolSpec(
            source=source,
            tool=metadata.name,
            description=_description(metadata.name, metadata.description),
            input_schema=_schema(metadata),
            tier=Tier.CODE,
        )

    @property
    def return_direct(self) -> bool:
        """Whether its answer ends an agent's run."""
        return self.original.metadata.return_direct

    async def run(self, arguments: Mapping[str, Any], ctx: Context[Any] | None) -> ToolOutput:
        """Run the tool in a step, with that step's context; see `run_tool`."""
        return await run_tool(self.original, arguments, ctx)

    async def call(self, arguments: dict[str, Any]) -> ToolResult:
        """Run the tool, in a step or outside of one. What it raises goes through.

        Raises:
            ConfigurationError: It takes a Context, and this is not a step.
        """
        return from_output(await _ran(self.original, arguments, _step_context()))


async def run_tool(
    tool: BaseTool, arguments: Mapping[str, Any], ctx: Context[Any] | None
) -> ToolOutput:
    """Run any tool of LlamaIndex's once, as its agents do: what it raises becomes an output.

    Raises:
        WaitingForEvent: A human is to answer first. It must reach the workflow.
    """
    try:
        return await _ran(tool, arguments, ctx)
    except WaitingForEvent:
        raise
    except Exception as error:  # noqa: BLE001 - the output holds it
        return raised(error, name=tool.metadata.get_name(), arguments=arguments)


def raised(error: Exception, *, name: str, arguments: Mapping[str, Any]) -> ToolOutput:
    """What a tool raised, as the output that LlamaIndex's agents make of it."""
    return ToolOutput(
        tool_name=name,
        content=str(error) or type(error).__name__,
        raw_input=dict(arguments),
        raw_output=str(error),
        is_error=True,
        exception=error,
    )


def to_tool(item: object, source: str) -> LlamaIndexTool | tuple[LlamaIndexTool, ...]:
    """The adapter that core finds by the entry point `llama_index`.

    Raises:
        ConfigurationError: It is some other object of LlamaIndex's.
        SourceUnavailableError: It is a tool spec that does not give its tools.
    """
    if isinstance(item, BaseTool):
        return LlamaIndexTool(item, source)
    if isinstance(item, BaseToolSpec):
        return tuple(LlamaIndexTool(tool, source) for tool in _listed(item))
    raise ConfigurationError(
        f"{type(item).__name__} is not a LlamaIndex tool: give a FunctionTool or another BaseTool, "
        "a tool spec, or, for a query engine or retriever, QueryEngineTool or "
        "RetrieverTool.from_defaults(...)"
    )


async def _ran(
    tool: BaseTool, arguments: Mapping[str, Any], ctx: Context[Any] | None
) -> ToolOutput:
    given = dict(arguments)
    if isinstance(tool, FunctionTool) and tool.ctx_param_name is not None:
        if ctx is None:
            raise ConfigurationError(
                f"the LlamaIndex tool {tool.metadata.name!r} takes a Context, which there is only "
                "in a step of a workflow: call it through an agent or a workflow of LlamaIndex's"
            )
        given[tool.ctx_param_name] = ctx
    return await adapt_to_async_tool(tool).acall(**given)


def _step_context() -> Context[Any] | None:
    try:
        return Context.get_step_context()
    except WorkflowRuntimeError:
        return None


def _description(name: str, description: str | None) -> str:
    """Without the signature that a FunctionTool puts before a docstring."""
    told = description or ""
    signature = _SIGNATURE.match(told, len(name)) if told.startswith(name) else None
    return told[signature.end() :].strip() if signature else told


def _schema(metadata: ToolMetadata) -> Mapping[str, Any]:
    if metadata.fn_schema is None:
        return metadata.get_parameters_dict()
    try:
        # Whole: `get_parameters_dict` leaves out what it does not know.
        return metadata.fn_schema.model_json_schema()
    except Exception as error:
        raise ConfigurationError(
            f"the arguments of the LlamaIndex tool {metadata.name!r} have no JSON Schema: {error}"
        ) from error


def _listed(spec: BaseToolSpec) -> list[FunctionTool]:
    try:
        return spec.to_tool_list()
    except Exception as error:
        raise SourceUnavailableError(
            type(spec).__name__,
            f"its to_tool_list failed ({type(error).__name__}: {error}), so its tools are left out",
        ) from error
