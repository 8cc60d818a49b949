"""Which errors of the SDK mean that no answer came, or none that can be read. Pure.

It makes errors of its own in place of an answer, and nothing but their texts tells them from
those that servers send.
"""

from mcp import MCPError
from mcp.types import CONNECTION_CLOSED, INTERNAL_ERROR

CLOSED = "the connection was closed"
_NONE = {
    (CONNECTION_CLOSED, "Connection closed"): CLOSED,
    (CONNECTION_CLOSED, "SSE stream ended without a response"): CLOSED,
    (INTERNAL_ERROR, "Server returned an error response"): "",
}
# Begins so.
_UNREADABLE = (
    "Failed to parse JSON response: ",
    "Failed to parse SSE message: ",
    "Redirect to ",
    "SSE stream ended and reconnection attempts were exhausted",
    "SSE stream failed: ",
    "Unexpected content type: ",
    "server answered a request with 202 Accepted",
)
# Of a request that came too late for its session, and was not read. Other SDKs say it too.
_SESSION_OVER = frozenset({"Session terminated", "Session not found"})


def is_closed(error: MCPError) -> bool:
    """Whether the connection is gone."""
    return (error.code, error.message) == (CONNECTION_CLOSED, "Connection closed")


def was_read(error: MCPError) -> bool:
    """Whether the server may have acted on the request."""
    return error.message not in _SESSION_OVER


def unanswered(error: MCPError) -> str | None:
    """Why there is no answer; "" where only the way can tell, None if the error is the answer."""
    if error.message.startswith(_UNREADABLE):
        is_odd = " validation error" in error.message
        return "it gave an answer that is not MCP" if is_odd else error.message
    return _NONE.get((error.code, error.message))
