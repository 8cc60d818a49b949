"""MCP servers as deferred tools, from the mcp.json of your editor. A bad one costs only itself."""

import os
import sys
from pathlib import Path

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage

from deferred_tools import Toolset
from deferred_tools.sources.mcp import McpServers
from examples.scripted import answers, call, says, script
from langchain_deferred_tools.middleware import DeferredToolsMiddleware


def main() -> None:
    """Run the story and check it."""
    os.environ["PYTHON"] = sys.executable
    model = script(
        says("", call("tool_search", query="convert a time between time zones")),
        says(
            "",
            call(
                "time__convert_time",
                source_timezone="Europe/Berlin",
                time="09:00",
                target_timezone="Asia/Tokyo",
            ),
        ),
        says("It is late afternoon in Tokyo."),
    )
    servers = McpServers.from_file(Path(__file__).parent / "mcp.json")
    with Toolset.from_sources(servers) as toolset:
        status = toolset.status()["sources"]
        agent = create_agent(model, middleware=[DeferredToolsMiddleware(toolset)])
        # `invoke`, although MCP is async: connections live in the toolset's own loop.
        state = agent.invoke({"messages": [HumanMessage("09:00 in Berlin is when in Tokyo?")]})

    for name, source in status.items():
        print(f"{name}: {source['status']}, {source['tools']} tools. {source['reason']}")
    print("the server answered:", answers(state["messages"])[-1])
    assert status["time"]["status"] == "ready"
    assert status["missing"]["status"] == "unavailable"
    assert "no-such-program" in status["missing"]["reason"]
    assert "Asia/Tokyo" in answers(state["messages"])[-1]


if __name__ == "__main__":
    main()
