"""Placeholder until the retrievers land."""

from deferred_tools.retrievers.base import Retriever
from deferred_tools.retrievers.keyword import KeywordRetriever


def make(name: str) -> Retriever:
    """A retriever by name."""
    return KeywordRetriever()
