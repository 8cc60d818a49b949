"""Mappings in CEL between a contract and the server's tool that carries it out."""

from deferred_tools.mapping.call_mapping import CallMapping
from deferred_tools.mapping.error import MappingError

__all__ = ["CallMapping", "MappingError"]
