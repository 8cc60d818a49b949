"""Every real definition that was collected, bound as models of two vendors are told of it."""

import json
import re
from typing import Any

import pytest
from langchain_core.utils.function_calling import convert_to_openai_tool

from deferred_tools import Caller, Session, Toolset
from langchain_deferred_tools import bind
from tests.support.corpus import sources

pytestmark = pytest.mark.thorough

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def anthropic_tool(function: dict[str, Any]) -> dict[str, Any]:
    """What LangChain's package for Anthropic makes of a tool, from the same conversion."""
    return {
        "name": function["name"],
        "description": function["description"],
        "input_schema": function["parameters"],
    }


def test_every_real_tool_is_bound_for_every_vendor() -> None:
    with Toolset(sources(), retriever="substring") as toolset:
        session = Session(caller=Caller.root())
        entries = toolset.registry.tools
        assert len(entries) == 5549
        for name, entry in entries.items():
            function = convert_to_openai_tool(bind(toolset, session, entry))["function"]
            assert function["name"] == name
            assert NAME.fullmatch(name)
            assert function["description"]
            payload = anthropic_tool(function)
            assert json.loads(json.dumps(payload)) == payload
            assert payload["input_schema"]["type"] == "object"
            # No argument is lost on the way.
            own = entry.spec.parameters.get("properties", {})
            assert list(payload["input_schema"]["properties"]) == list(own), name
