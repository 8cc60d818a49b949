"""Functions as deferred tools: listed in one line each, bound only when the model searches."""

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool

from deferred_tools import Toolset
from examples.scripted import answers, call, says, script
from langchain_deferred_tools.middleware import DeferredToolsMiddleware


def convert_currency(amount: float, rate: float) -> float:
    """Convert an amount of money at an exchange rate."""
    return round(amount * rate, 2)


@tool
def translate(text: str, language: str) -> str:
    """Translate text into another language."""
    return f"[{language}] {text}"


def main() -> None:
    """Run the story and check it."""
    model = script(
        says("", call("tool_search", query="exchange rate")),
        says("", call("convert_currency", amount=80, rate=1.25)),
        says("80 euros are 100 dollars."),
    )
    with Toolset.from_sources([convert_currency, translate]) as toolset:
        agent = create_agent(model, middleware=[DeferredToolsMiddleware(toolset)])
        state = agent.invoke({"messages": [HumanMessage("What are 80 euros in dollars?")]})

    print("bound in the last call:", model.bound)
    print("answer:", state["messages"][-1].text)
    assert model.bound == ["tool_search", "convert_currency"]
    assert answers(state["messages"])[-1] == "100.0"


if __name__ == "__main__":
    main()
