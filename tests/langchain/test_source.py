"""LangChain tools as ours: what they say of themselves."""

from typing import Any

import pydantic.v1
import pytest
from langchain_core.tools import StructuredTool, tool

from deferred_tools.errors import ConfigurationError
from langchain_deferred_tools.source import to_tool


class Legacy(pydantic.v1.BaseModel):
    """Arguments as pydantic 1 has them."""

    city: str


@tool
def modern(city: str) -> str:
    """Weather forecast."""
    return city


def old(city: str) -> str:
    return city


def test_arguments_of_every_kind_of_schema_are_read() -> None:
    asked: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}}
    made: list[Any] = [
        modern,
        StructuredTool.from_function(old, description="d", args_schema=Legacy),
        StructuredTool.from_function(old, description="d", args_schema=asked),
    ]
    for one in made:
        schema = to_tool(one, "functions").spec.parameters
        assert schema["properties"]["city"]["type"] == "string"


def test_another_object_of_langchain_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="str is not a LangChain tool"):
        to_tool("modern", "functions")
