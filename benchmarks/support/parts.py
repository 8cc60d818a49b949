"""What a turn is made of, piece by piece."""

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.messages import AIMessage, SystemMessage, ToolCall, ToolMessage
from langgraph.prebuilt import ToolRuntime
from langgraph.prebuilt.tool_node import ToolCallRequest
from support.clock import Timing, timed
from support.report import Row

from deferred_tools import Caller, Session, Toolset
from deferred_tools.stored import dump_session, load_session
from langchain_deferred_tools import Conversation
from langchain_deferred_tools.middleware import DeferredToolsMiddleware
from langchain_deferred_tools.state import STATE_KEY

QUERY = "create an issue in a repository and tell the team about it"


def parts(tools: Toolset, names: Sequence[str], times: int) -> list[Row]:
    """Each piece on its own, for a conversation that has enabled `names`."""
    root = Caller.root()
    empty = Session(caller=root)
    session = tools.search(empty, {"names": list(names)}).session if names else empty
    state = dump_session(session)
    talk = Conversation(tools, session=session)
    system = SystemMessage("You are a helpful assistant.")
    pieces: dict[str, Callable[[], object]] = {
        "session from state": lambda: load_session(state, root),
        "prompt block": lambda: talk.prompt([system]),
        "bound tools": talk.bound,
        "search": lambda: tools.search(empty, {"query": QUERY}),
    }
    if names:
        middleware, request = DeferredToolsMiddleware(tools), _request(names[0], state)
        answer = ToolMessage("ok", tool_call_id="call")
        pieces["gate"] = lambda: middleware.wrap_tool_call(request, lambda _: answer)
    return [
        _row(name, Timing.of([timed(run) for _ in range(times)])) for name, run in pieces.items()
    ]


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
        "median µs": timing.median * 1e3,
        "p90 µs": timing.p90 * 1e3,
        "least µs": timing.least * 1e3,
        "cpu µs": timing.cpu * 1e3,
    }
