"""JSON Schemas reach models whole, through LlamaIndex's own packages for two vendors."""

import copy
import json
from typing import Any

import pytest
from llama_index.core.agent.react.formatter import ReActChatFormatter
from llama_index.core.tools import FunctionTool

from llama_index.tools.deferred.schema import metadata_of
from tests.llamaindex.payloads import VENDORS, whole


def properties(**schemas: Any) -> dict[str, Any]:
    return {"type": "object", "properties": schemas}


NODE = properties(next={"$ref": "#/$defs/Node"})

# What LlamaIndex's own conversion loses or fails on.
SCHEMAS: dict[str, dict[str, Any]] = {
    "nested": properties(box=properties(width={"type": "number"}) | {"required": ["width"]}),
    "bounds": properties(
        n={"type": "integer", "minimum": 1, "maximum": 9},
        code={"type": "string", "pattern": "^[a-z]+$", "format": "email"},
    ),
    "alternatives": properties(
        one={"oneOf": [{"type": "string"}, {"type": "integer"}]},
        all={"allOf": [{"type": "string"}, {"minLength": 2}]},
        constant={"const": 7},
    ),
    "type-list": properties(maybe={"type": ["string", "null"]}),
    "draft-07": properties(box={"$ref": "#/definitions/Box"})
    | {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {"Box": properties(width={"type": "number"})},
    },
    "closed": properties(a={"type": "string"}) | {"additionalProperties": False},
    "underscore": properties(_id={"type": "string"}) | {"required": ["_id"]},
    "recursive": properties(node={"$ref": "#/$defs/Node"}) | {"$defs": {"Node": NODE}},
    "remote": properties(a={"$ref": "https://example.invalid/schema.json"}),
    "top-level": properties(a={}, b={})
    | {"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "description": "Either.", "title": "T"},
    "empty": properties(),
}


def tool_of(name: str, schema: dict[str, Any], description: str = "d") -> FunctionTool:
    def run(**arguments: Any) -> str:
        return str(arguments)

    metadata = metadata_of(name=name, description=description, parameters=schema)
    return FunctionTool(fn=run, metadata=metadata)


@pytest.mark.parametrize("vendor", VENDORS)
@pytest.mark.parametrize("kind", SCHEMAS)
def test_a_schema_arrives_whole(kind: str, vendor: str) -> None:
    schema = SCHEMAS[kind]
    told = VENDORS[vendor]([tool_of("t", schema)])
    assert told["t"]["parameters"] == whole(vendor, schema)
    assert json.loads(json.dumps(told)) == told


@pytest.mark.parametrize("kind", SCHEMAS)
def test_what_readers_of_the_model_class_see_is_the_schema_too(kind: str) -> None:
    metadata = tool_of("t", SCHEMAS[kind]).metadata
    assert metadata.fn_schema is not None
    assert metadata.fn_schema.model_json_schema() == SCHEMAS[kind]
    assert json.loads(metadata.fn_schema_str) == SCHEMAS[kind]


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_definition_of_the_same_name_in_two_tools_stays_each_tools_own(vendor: str) -> None:
    def schema(kind: str) -> dict[str, Any]:
        return properties(x={"$ref": "#/$defs/X"}) | {"$defs": {"X": {"type": kind}}}

    tools = [tool_of("one", schema("string")), tool_of("two", schema("integer"))]
    told = VENDORS[vendor](tools)
    assert told["one"]["parameters"]["$defs"] == {"X": {"type": "string"}}
    assert told["two"]["parameters"]["$defs"] == {"X": {"type": "integer"}}


def test_what_a_reader_writes_into_a_schema_reaches_nobody_else() -> None:
    given = copy.deepcopy(SCHEMAS["alternatives"])
    metadata = metadata_of(name="t", description="d", parameters=given)
    assert metadata.fn_schema is not None
    for read in (metadata.get_parameters_dict, metadata.fn_schema.model_json_schema):
        first = read()
        first["properties"]["one"]["oneOf"].clear()
        first["additionalProperties"] = False
        assert read() == given == SCHEMAS["alternatives"]


def test_the_model_class_takes_any_arguments() -> None:
    metadata = tool_of("t", SCHEMAS["underscore"]).metadata
    assert metadata.fn_schema is metadata.fn_schema
    assert metadata.fn_schema is not None
    assert metadata.fn_schema.model_validate({"_id": 1, "b": 2}).model_dump() == {"_id": 1, "b": 2}


@pytest.mark.parametrize("length", [0, 1024, 1025, 40_000])
def test_a_description_of_any_length_goes_out_as_it_is(length: int) -> None:
    tool = tool_of("t", properties(), "x" * length)
    assert tool.metadata.to_openai_tool()["function"]["description"] == "x" * length
    for told in VENDORS.values():
        assert told([tool])["t"]["description"] == "x" * length


def test_a_react_agent_writes_the_schema_into_its_prompt() -> None:
    tool = tool_of("t", SCHEMAS["bounds"])
    [system, *_] = ReActChatFormatter().format([tool], chat_history=[])
    assert "^[a-z]+$" in str(system.content)


def test_whether_the_answer_ends_the_run_is_told() -> None:
    def direct(value: bool) -> bool:
        made = metadata_of(name="t", description="", parameters={}, return_direct=value)
        return made.return_direct

    assert (direct(True), direct(False)) == (True, False)
