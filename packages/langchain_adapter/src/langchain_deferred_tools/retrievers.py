"""LangChain's vector stores and retrievers as engines that find tools.

Models of embeddings need nothing of this: `deferred_tools.retrievers.vectors.Vectors` takes
LangChain's `Embeddings` as they are.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore

from deferred_tools.retrievers.documents import (
    Enough,
    Found,
    NamingRetriever,
    SharedStore,
    StoreRetriever,
    ToolDocument,
)
from deferred_tools.retrievers.fallback import FallbackRetriever


def search_with(
    engine: VectorStore | BaseRetriever,
    *,
    key: str = "tool",
    enough: Enough | None = None,
    index_seconds: float | None = 5.0,
    search_seconds: float = 5.0,
) -> Callable[[], FallbackRetriever]:
    """What makes retrievers over `engine`, for `Toolset(retriever=...)`.

    A vector store is given the tools, as documents whose ids are hashes of what they say: a
    restart adds nothing twice. Nothing is ever removed from it. A retriever is only asked: its
    documents are yours, and so is how many it gives. While the engine is slow or fails, `bm25`
    answers, and `problem` says why.

    Args:
        engine: A vector store or a retriever.
        key: Where the documents of a retriever have the name, or the id, of their tool: a key of
            their metadata.
        enough: Which scores of a store are evidence, such as `lambda likeness: likeness > 0.3`.
            Default: all of them; then any query finds something.
        index_seconds: How long new tools may wait for the engine, None for as long as it takes.
            After that `bm25` answers until it has them.
        search_seconds: How long a search may wait for it.
    """
    make: Callable[[], StoreRetriever | NamingRetriever] = (
        partial(StoreRetriever, SharedStore(_Store(engine)), enough)
        if isinstance(engine, VectorStore)
        else partial(NamingRetriever, partial(_asked, engine), key)
    )
    return partial(
        FallbackRetriever,
        lambda _: make(),
        name=type(engine).__name__,
        index_seconds=index_seconds,
        search_seconds=search_seconds,
    )


def _asked(engine: BaseRetriever, query: str) -> list[dict[str, Any]]:
    return [document.metadata for document in engine.invoke(query)]


class _Store:
    """A vector store that holds tools as documents."""

    def __init__(self, store: VectorStore) -> None:
        self._store = store

    def add(self, documents: Sequence[ToolDocument]) -> None:
        there = self._known([one.id for one in documents])
        missing = [
            Document(id=one.id, page_content=one.text, metadata=one.metadata)
            for one in documents
            if one.id not in there
        ]
        if missing:
            self._store.add_documents(missing, ids=[str(one.id) for one in missing])

    def best(self, query: str, most: int) -> list[Found]:
        try:
            scored = self._store.similarity_search_with_score(query, k=most)
        except NotImplementedError:
            found = self._store.similarity_search(query, k=most)
            return [Found(document.metadata, None) for document in found]
        return [Found(document.metadata, score) for document, score in scored]

    def _known(self, ids: list[str]) -> set[str | None]:
        try:
            return {document.id for document in self._store.get_by_ids(ids)}
        except NotImplementedError:  # it cannot tell: what is there is replaced
            return set()
