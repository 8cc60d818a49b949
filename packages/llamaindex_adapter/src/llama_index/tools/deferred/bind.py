"""Our tools as LlamaIndex tools, for loops of your own: the original, or a `FunctionTool`."""

import json
from typing import Any

from llama_index.core.tools import BaseTool, FunctionTool, ToolOutput

from deferred_tools.errors import HostError, ModelError
from deferred_tools.registered import RegisteredTool
from deferred_tools.session import Session
from deferred_tools.toolset import Toolset
from llama_index.tools.deferred.calling import run_of
from llama_index.tools.deferred.content import failure, to_output
from llama_index.tools.deferred.schema import metadata_of
from llama_index.tools.deferred.source import LlamaIndexTool


def bind(toolset: Toolset, session: Session, entry: RegisteredTool) -> BaseTool:
    """`entry` for a model of LlamaIndex's, under its model-facing name.

    A LlamaIndex tool of that name is given back itself. Anything else becomes a `FunctionTool`
    that is called through the toolset on behalf of `session`, sync or async alike, so that every
    call passes policy again, wherever the tool is carried.
    """
    spec, tool = entry.spec, entry.tool
    if isinstance(tool, LlamaIndexTool) and tool.spec.tool == spec.name:
        return tool.original

    def call(**arguments: Any) -> ToolOutput:
        try:
            result = toolset.call(session, spec.name, arguments, run=run_of())
        except (ModelError, HostError) as error:
            return failure(error, name=spec.name, arguments=arguments)
        return to_output(result, name=spec.name, arguments=arguments)

    async def acall(**arguments: Any) -> ToolOutput:
        try:
            result = await toolset.acall(session, spec.name, arguments, run=run_of())
        except (ModelError, HostError) as error:
            return failure(error, name=spec.name, arguments=arguments)
        return to_output(result, name=spec.name, arguments=arguments)

    description = spec.description or spec.title or spec.name
    # What an agent that writes code is shown instead of the metadata.
    call.__name__ = spec.name
    call.__doc__ = f"{description}\n\nArguments: {json.dumps(spec.parameters, ensure_ascii=False)}"
    return FunctionTool(
        fn=call,
        async_fn=acall,
        metadata=metadata_of(
            name=spec.name,
            description=description,
            parameters=spec.parameters,
            return_direct=isinstance(tool, LlamaIndexTool) and tool.return_direct,
        ),
        # A FunctionTool makes text of what its function returns, unless a callback gives an output.
        callback=_itself,
        async_callback=_aitself,
    )


def _itself(output: ToolOutput) -> ToolOutput:
    return output


async def _aitself(output: ToolOutput) -> ToolOutput:
    return output
