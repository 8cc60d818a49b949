"""A LlamaIndex workflow of your own, which `chat.py` shows; its context remembers."""

import asyncio

from workflows import Context

from examples.llamaindex_workflow.chat import TOOLSET, Chat
from examples.scripted_llama import ScriptedLLM, call, says


async def story() -> None:
    """Run it and check it."""
    model = ScriptedLLM(
        says("", call("tool_search", query="weather forecast")),
        says("For which city?"),
        says("", call("get_weather", city="Oslo")),
        says("It is sunny in Oslo."),
    )
    chat = Chat(model)
    context = Context(chat)
    print("agent:", await chat.run(said="How is the weather?", ctx=context))
    print("agent:", await chat.run(said="Oslo", ctx=context))
    assert model.bound == ["tool_search", "get_weather"]  # enabled in the turn before
    assert model.answers[-1] == "sunny in Oslo"


def main() -> None:
    """Close the tools at the end."""
    with TOOLSET:
        asyncio.run(story())


if __name__ == "__main__":
    main()
