"""Every real definition that was collected, through the gateway."""

import pytest

from deferred_tools import Caller, Toolset
from deferred_tools.gateway.desk import Conversation, Desk
from deferred_tools.testing.sources import ScriptedSource, ready
from tests.support.corpus import collected
from tests.support.gateway import MODES, in_memory, names_of

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]
AT_ONCE = 64


async def test_every_real_tool_is_found_read_and_listed_without_an_exception() -> None:
    tools = collected()
    sources = [ScriptedSource(name, ready(*some)) for name, some in tools.items()]
    async with Toolset(sources, retriever="substring") as toolset:
        names = toolset.registry.names()
        assert len(names) == sum(map(len, tools.values()))
        async with in_memory(toolset) as client:
            for at in range(0, len(names), AT_ONCE):
                asked = list(names[at : at + AT_ONCE])
                assert names_of(await client.call_tool("search_tools", {"names": asked})) == asked
        desk, who = Desk(toolset, ()), Conversation(Caller.root())
        for spec in toolset.registry.specs:
            told = await desk.answer(who, "get_tool_schema", {"name": spec.name})
            assert told.structured["inputSchema"] == spec.parameters
            assert told.structured.get("outputSchema") == spec.output_schema
        for at, (name, some) in enumerate(tools.items()):
            pins = [f"{name}/{tool.spec.tool}" for tool in some]
            async with in_memory(toolset, *pins, mode=MODES[at % len(MODES)]) as client:
                listed = (await client.list_tools()).tools[3:]
            first = {tool.spec.tool: tool.spec for tool in reversed(some)}
            assert len(listed) == len(first)
            for tool in listed:
                assert tool.input_schema == first[tool.name].parameters
                assert tool.output_schema == first[tool.name].output_schema
                assert tool.description == (first[tool.name].description or None)
