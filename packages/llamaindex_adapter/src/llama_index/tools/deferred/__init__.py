"""Deferred tools for LlamaIndex agents and workflows."""

from llama_index.tools.deferred.bind import bind
from llama_index.tools.deferred.deferred import DeferredTools
from llama_index.tools.deferred.ledger import DeferredToolState
from llama_index.tools.deferred.session import DeferredToolSession
from llama_index.tools.deferred.source import LlamaIndexTool
from llama_index.tools.deferred.stream import exact_calls

__all__ = [
    "DeferredToolSession",
    "DeferredToolState",
    "DeferredTools",
    "LlamaIndexTool",
    "bind",
    "exact_calls",
]
