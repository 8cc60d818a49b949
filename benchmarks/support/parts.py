"""What a turn is made of, piece by piece."""

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.messages import AIMessage, SystemMessage, ToolCall
from langgraph.prebuilt import ToolRuntime
from langgraph.prebuilt.tool_node import ToolCallRequest

from deferred_tools import Caller, Session, Toolset
from langchain_deferred_tools.delivery import tools_to_bind, with_block
from langchain_deferred_tools.gate import Gate
from langchain_deferred_tools.search_tool import SearchTool
from langchain_deferred_tools.state import STATE_KEY, dump_session, load_session
from support.clock import Timing, timed
from support.report import Row

QUERY = "create an issue in a repository and tell the team about it"


def parts(tools: Toolset, names: Sequence[str], times: int) -> list[Row]:
    """Each piece on its own, for a conversation that has enabled `names`."""
    root = Caller.root()
    empty = Session(caller=root)
    session = tools.search(empty, {"names": list(names)}).session if names else empty
    state = dump_session(session)
    system = SystemMessage("You are a helpful assistant.")
    pieces: dict[str, Callable[[], object]] = {
        "session from state": lambda: load_session(state, root),
        "prompt block": lambda: with_block(system, tools.prompt(root)),
        "bound tools": lambda: tools_to_bind(tools, session, [SearchTool()]),
        "search": lambda: tools.search(empty, {"query": QUERY}),
    }
    if names:
        gate, request = Gate(tools, root), _request(names[0], state)
        pieces["gate"] = lambda: gate.admit(request, sync=True)
    return [_row(name, Timing.of([timed(run) for _ in range(times)])) for name, run in pieces.items()]


def _request(name: str, state: dict[str, Any]) -> ToolCallRequest:
    call = ToolCall(name=name, args={}, id="call", type="tool_call")
    graph = {"messages": [AIMessage("", tool_calls=[call])], STATE_KEY: state}
    runtime: ToolRuntime[Any, Any] = ToolRuntime(
        state=graph,
        context=None,
        config={},
        stream_writer=lambda _: None,
        tool_call_id="call",
        store=None,
    )
    return ToolCallRequest(tool_call=call, tool=None, state=graph, runtime=runtime)


def _row(name: str, timing: Timing) -> Row:
    return {
        "part": name,
        "median ms": timing.median,
        "p90 ms": timing.p90,
        "least ms": timing.least,
        "cpu ms": timing.cpu,
    }
