"""LlamaIndex's vector store indexes and retrievers as engines that find tools.

Models of embeddings need nothing of this: `deferred_tools.retrievers.vectors.Vectors` takes
LlamaIndex's `BaseEmbedding` as they are.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from threading import Lock
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.indices import VectorStoreIndex
from llama_index.core.schema import TextNode

from deferred_tools.errors import ConfigurationError
from deferred_tools.retrievers.documents import (
    FETCHES,
    Enough,
    Found,
    NamingRetriever,
    SharedStore,
    StoreRetriever,
    ToolDocument,
)
from deferred_tools.retrievers.fallback import FallbackRetriever

Build = Callable[[Sequence[TextNode], int], BaseRetriever]
"""Makes a retriever over these nodes, at least one, that gives the best so many of them."""


def search_with(
    engine: VectorStoreIndex | BaseRetriever | Build,
    *,
    key: str = "tool",
    enough: Enough | None = None,
    index_seconds: float | None = 5.0,
    search_seconds: float = 5.0,
) -> Callable[[], FallbackRetriever]:
    """What makes retrievers over `engine`, for `Toolset(retriever=...)`.

    An index is given the tools, as nodes whose ids are hashes of what they say: a restart adds
    nothing twice. Nothing is ever removed from it. A retriever is only asked: its nodes are
    yours, and so is how many it gives. A function makes retrievers over the tools: for each set
    of them a few, which differ in how many they give. While the engine is slow or fails, `bm25`
    answers, and `problem` says why.

    Args:
        engine: An index; a retriever; or a function that makes one, such as
            `lambda nodes, k: BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=k)`.
        key: Where the nodes of a retriever have the name, or the id, of their tool: a key of
            their metadata.
        enough: Which scores are evidence, such as `lambda likeness: likeness > 0.3`. Default: all
            of them; then any query finds something. Not for a retriever whose nodes are yours.
        index_seconds: How long new tools may wait for the engine, None for as long as it takes.
            After that `bm25` answers until it has them.
        search_seconds: How long a search may wait for it.

    Raises:
        ConfigurationError: `engine` is none of these.
    """
    _check(engine)
    name = type(engine).__name__
    make: Callable[[], StoreRetriever | NamingRetriever]
    if isinstance(engine, VectorStoreIndex):
        make = partial(StoreRetriever, SharedStore(_Index(engine)), enough)
    elif isinstance(engine, BaseRetriever):
        make = partial(NamingRetriever, partial(_asked, engine), key)
    else:
        make, name = partial(_built, engine, enough), "your retriever"
    return partial(
        FallbackRetriever,
        lambda _: make(),
        name=name,
        index_seconds=index_seconds,
        search_seconds=search_seconds,
    )


def _check(engine: object) -> None:
    fits = isinstance(engine, VectorStoreIndex | BaseRetriever) or callable(engine)
    if not fits or isinstance(engine, BaseEmbedding):  # which can be called, with other things
        raise ConfigurationError(
            "search_with takes a VectorStoreIndex, a retriever, or a function of nodes and a "
            f"number that makes one; not {type(engine).__name__}. Make an index of a vector store "
            "(VectorStoreIndex.from_vector_store), and give a model of embeddings to "
            "deferred_tools.retrievers.vectors.Vectors."
        )


def _asked(engine: BaseRetriever, query: str) -> list[dict[str, Any]]:
    return [found.metadata for found in engine.retrieve(query)]


def _built(build: Build, enough: Enough | None) -> StoreRetriever:
    return StoreRetriever(_Built(build), enough)


class _Index:
    """An index that holds tools as nodes."""

    def __init__(self, index: VectorStoreIndex) -> None:
        self._index = index
        # One that lies in this process cannot be searched while it grows.
        in_process = not index.vector_store.stores_text
        self._alone: AbstractContextManager[object] = Lock() if in_process else nullcontext()

    def add(self, documents: Sequence[ToolDocument]) -> None:
        there = self._known([one.id for one in documents])
        missing = [_node(one) for one in documents if one.id not in there]
        if missing:
            with self._alone:
                self._index.insert_nodes(missing)

    def best(self, query: str, most: int) -> list[Found]:
        with self._alone:
            return _found(self._index.as_retriever(similarity_top_k=most), query)

    def _known(self, ids: list[str]) -> set[str]:
        store = self._index.vector_store
        if not store.stores_text:
            return set(self._index.index_struct.nodes_dict.values())
        # Some cannot tell; some fail before their first node, as Qdrant: it has no collection yet.
        with suppress(Exception):
            return {node.node_id for node in store.get_nodes(ids)}
        # So what may be there is replaced. If it cannot be reached, what adds the nodes says so.
        with suppress(Exception):
            self._index.delete_nodes(ids)
        return set()


class _Built:
    """Retrievers that one function makes over the tools: each gives as many as it was made for."""

    def __init__(self, build: Build) -> None:
        self._build = build
        self._nodes: list[TextNode] = []
        self._made: dict[int, BaseRetriever] = {}

    def add(self, documents: Sequence[ToolDocument]) -> None:
        self._nodes, self._made = [_node(one) for one in documents], {}
        if self._nodes:
            self._giving(FETCHES[0])  # which is slow, or fails, here and not in a search

    def best(self, query: str, most: int) -> list[Found]:
        return _found(self._giving(most), query)

    def _giving(self, most: int) -> BaseRetriever:
        number = min(most, len(self._nodes))
        if number not in self._made:
            self._made[number] = self._build(self._nodes, number)
        return self._made[number]


def _found(retriever: BaseRetriever, query: str) -> list[Found]:
    return [Found(found.metadata, found.score) for found in retriever.retrieve(query)]


def _node(document: ToolDocument) -> TextNode:
    metadata = document.metadata
    return TextNode(
        id_=document.id,
        text=document.text,
        metadata=metadata,
        # LlamaIndex would have them read as part of the text.
        excluded_embed_metadata_keys=list(metadata),
        excluded_llm_metadata_keys=list(metadata),
    )
