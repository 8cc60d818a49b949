"""A LlamaIndex agent as it is: `attach`, and its tools are deferred; its context remembers."""

import asyncio
import json

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.tools import FunctionTool
from llama_index.core.workflow import Context

from deferred_tools import Toolset
from examples.scripted_llama import ScriptedLLM, call, says
from llama_index.tools.deferred import DeferredTools


def convert_currency(amount: float, rate: float) -> float:
    """Convert an amount of money at an exchange rate."""
    return round(amount * rate, 2)


def translate(text: str, language: str) -> str:
    """Translate text into another language."""
    return f"[{language}] {text}"


async def story(toolset: Toolset) -> None:
    """Run it and check it."""
    model = ScriptedLLM(
        says("", call("tool_search", query="exchange rate")),
        says("", call("convert_currency", amount=80, rate=1.25)),
        says("80 euros are 100 dollars."),
        says("", call("convert_currency", amount=8, rate=1.25)),
        says("And 8 are 10."),
    )
    agent = DeferredTools(toolset).attach(FunctionAgent(llm=model, system_prompt="You help."))

    context = Context(agent)
    print("answer:", await agent.run("What are 80 euros in dollars?", ctx=context))
    print("bound in the last call:", model.bound)
    assert model.bound == ["tool_search", "convert_currency"]
    assert model.answers[-1] == "100.0"

    # The context is all there is to keep: JSON, to go on in another process.
    kept = json.loads(json.dumps(context.to_dict()))
    print("answer:", await agent.run("And 8?", ctx=Context.from_dict(agent, kept)))
    assert model.answers[-1] == "10.0"  # without another search


def main() -> None:
    """Tools may be plain functions, LlamaIndex's own, MCP servers."""
    own = FunctionTool.from_defaults(translate)
    with Toolset.from_sources([convert_currency, own]) as toolset:
        asyncio.run(story(toolset))


if __name__ == "__main__":
    main()
