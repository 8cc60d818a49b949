"""What is enabled does not hang on the messages, and the user's memory is left alone."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemory, ChatMemoryBuffer, Memory
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context
from sqlalchemy.ext.asyncio import create_async_engine

from tests.support.llama_agents import KINDS, Kind, Ran, Tools, agent_of, arun, run
from tests.support.llama_model import call, calls, says
from tests.support.tools import MakeToolset

KINDS_OF_MEMORY = pytest.mark.parametrize("memory", ["buffer", "memory"])
SEARCH = calls(call("tool_search", names=["get_weather"]))
WEATHER = calls(call("get_weather", city="Oslo"))


@asynccontextmanager
async def memory_of(kind: str, **options: Any) -> AsyncIterator[BaseMemory]:
    """One of LlamaIndex's memories, closed afterwards."""
    if kind == "buffer":
        yield ChatMemoryBuffer.from_defaults(**options)
        return
    engine = create_async_engine("sqlite+aiosqlite:///:memory:")
    try:
        yield Memory.from_defaults(async_engine=engine, **options)
    finally:
        await engine.dispose()


def words(text: str) -> list[str]:
    return text.split()


@KINDS_OF_MEMORY
# LlamaIndex's own, of a Memory: that is given to each run.
@pytest.mark.filterwarnings("ignore:Skipping serialization of known unserializable key")
def test_a_tool_stays_enabled_when_its_search_is_forgotten(
    toolset_of: MakeToolset, functions: Tools, memory: str
) -> None:
    llm, agent = agent_of(toolset_of([functions.weather]), SEARCH, "x " * 30, WEATHER, "ok")

    async def talk() -> Ran:
        ctx = Context(agent)
        async with memory_of(memory, token_limit=40, tokenizer_fn=words) as kept:
            await arun(agent, "one", ctx, memory=kept)
            return await arun(agent, "two", ctx, memory=kept)

    ran = asyncio.run(talk())
    said = [str(message) for asked in llm.asked[2:] for message in asked.messages[1:]]
    assert not any("tool_search" in text for text in said)
    assert llm.asked[2].names == ["tool_search", "get_weather"]
    assert ran.told == [("get_weather", False, "sunny in Oslo")]


@KINDS_OF_MEMORY
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_the_users_memory_is_the_same_object_and_complete_after_the_run(
    toolset_of: MakeToolset, functions: Tools, memory: str, kind: Kind
) -> None:
    steps = [call("tool_search", names=["get_weather"]), call("get_weather", city="Oslo")]
    _, agent = kind.agent(toolset_of([functions.weather]), *steps, "ok", system_prompt="You help.")

    async def talk() -> list[ChatMessage]:
        ctx = Context(agent)
        async with memory_of(memory) as mine:
            await arun(agent, "go", ctx, memory=mine)
            assert await ctx.store.get("memory") is mine
            return list(await mine.aget())

    messages = asyncio.run(talk())
    # A ReActAgent keeps what it thought as one message; the others the calls and results.
    between = [] if kind.name == "react" else ["assistant", "tool"] * 2
    assert [message.role.value for message in messages] == ["user", *between, "assistant"]
    assert "ok" in (messages[-1].content or "")


def test_memory_never_holds_the_block_or_a_system_message(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    _, agent = agent_of(toolset_of([functions.weather]), SEARCH, WEATHER, "ok")
    memory = ChatMemoryBuffer.from_defaults()
    run(agent, memory=memory)
    for message in memory.get_all():
        assert message.role != MessageRole.SYSTEM
        assert "<available_tools>" not in (message.content or "")


def test_a_memory_that_outlives_its_context_does_not_bring_tools_along(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    llm, agent = agent_of(toolset_of([functions.weather]), SEARCH, "ok", WEATHER, "ok")
    memory = ChatMemoryBuffer.from_defaults()
    run(agent, "one", memory=memory)
    ran = run(agent, "two", memory=memory)
    assert llm.asked[-1].names == ["tool_search"]
    assert ran.told[0][:2] == ("get_weather", True)


def test_other_state_of_the_context_is_left_alone(
    toolset_of: MakeToolset, functions: Tools
) -> None:
    held: list[str] = []

    async def hold(ctx: Context) -> None:
        """Hold something that no copy would be."""
        await ctx.store.set("held", held)

    async def add(ctx: Context) -> None:
        """Add to it."""
        (await ctx.store.get("held")).append("added")

    own = [FunctionTool.from_defaults(hold), FunctionTool.from_defaults(add)]
    script = [calls(call("hold")), SEARCH, WEATHER, calls(call("add"))]
    _, agent = agent_of(toolset_of([functions.weather]), *script, says("ok"), tools=own)
    run(agent)
    assert held == ["added"]
