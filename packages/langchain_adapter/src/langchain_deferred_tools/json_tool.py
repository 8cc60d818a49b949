"""A LangChain tool whose arguments are described by JSON Schema and by nothing else."""

from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from pydantic import BaseModel, ConfigDict


class JsonTool(BaseTool):
    """Base of our own tools. Who calls them checks the arguments; LangChain passes them on.

    LangChain would build a pydantic model of each JSON Schema (milliseconds per tool), and
    look in its fields for arguments to inject: one that happens to be called `runtime` would be
    replaced. Subclasses define `_run(self, /, **arguments)`, so that any name may be used.
    """

    def get_input_schema(self, config: RunnableConfig | None = None) -> type[BaseModel]:
        """Any object."""
        return _AnyArguments


class _AnyArguments(BaseModel):
    model_config = ConfigDict(extra="allow")
