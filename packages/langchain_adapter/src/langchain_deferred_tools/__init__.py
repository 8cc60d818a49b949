"""Deferred tools for LangChain: needs langchain-core only.

For `create_agent` import `langchain_deferred_tools.middleware`, for a hand-built LangGraph
`langchain_deferred_tools.graph`: they need the extras `agents` and `langgraph`.
"""

from langchain_deferred_tools.bind import bind
from langchain_deferred_tools.conversation import Conversation
from langchain_deferred_tools.settled import invalid_calls, settled
from langchain_deferred_tools.source import LangChainTool
from langchain_deferred_tools.stream import exact_calls

__all__ = ["Conversation", "LangChainTool", "bind", "exact_calls", "invalid_calls", "settled"]
