"""Engines of LlamaIndex that know words: small, deterministic, in this process."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.vector_stores import SimpleVectorStore, VectorStoreQueryResult
from llama_index.core.vector_stores.types import VectorStoreQuery
from pydantic import Field


def words(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", text.lower()))


class WordEmbedding(BaseEmbedding):
    """A text is which of the words that were seen so far it has."""

    places: dict[str, int] = Field(default_factory=dict)
    embedded: list[str] = Field(default_factory=list)

    def _get_query_embedding(self, query: str) -> list[float]:
        vector = [0.0] * 128
        vector[127] = 1e-9  # a store divides by the length
        for word in sorted(words(query)):
            vector[self.places.setdefault(word, len(self.places) % 127)] = 1.0
        return vector

    def _get_text_embedding(self, text: str) -> list[float]:
        self.embedded.append(text)
        return self._get_query_embedding(text)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


class Database(SimpleVectorStore):
    """A store that keeps nodes itself, and takes none twice."""

    stores_text: bool = True
    nodes: dict[str, BaseNode] = Field(default_factory=dict)

    def add(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[str]:
        assert not self.nodes.keys() & {node.node_id for node in nodes}
        self.nodes |= {node.node_id: node for node in nodes}
        return super().add(nodes, **kwargs)

    def delete_nodes(self, node_ids: list[str] | None = None, *args: Any, **kwargs: Any) -> None:
        for one in node_ids or ():
            self.nodes.pop(one, None)
        super().delete_nodes(node_ids, *args, **kwargs)

    def get_nodes(self, node_ids: list[str] | None = None, filters: Any = None) -> list[BaseNode]:
        return [self.nodes[one] for one in node_ids or () if one in self.nodes]

    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        found = super().query(replace(query, node_ids=None), **kwargs)
        return replace(found, nodes=self.get_nodes([str(one) for one in found.ids or ()]))


class Forgetful(Database):
    """A store without scores, which cannot tell what it holds."""

    def get_nodes(self, node_ids: list[str] | None = None, filters: Any = None) -> list[BaseNode]:
        raise NotImplementedError

    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        found = SimpleVectorStore.query(self, replace(query, node_ids=None), **kwargs)
        nodes = [self.nodes[str(one)] for one in found.ids or ()]
        return VectorStoreQueryResult(ids=found.ids, nodes=nodes)


class New(Database):
    """A store that fails before its first node."""

    def get_nodes(self, node_ids: list[str] | None = None, filters: Any = None) -> list[BaseNode]:
        if not self.nodes:
            raise LookupError("there is no such collection")
        return super().get_nodes(node_ids, filters)

    def delete_nodes(self, node_ids: list[str] | None = None, *args: Any, **kwargs: Any) -> None:
        self.get_nodes(node_ids)
        super().delete_nodes(node_ids, *args, **kwargs)


class Distances(SimpleVectorStore):
    """A store whose scores are distances."""

    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        found = super().query(query, **kwargs)
        return replace(found, similarities=[1 - one for one in found.similarities or ()])


class WordRetriever(BaseRetriever):
    """Gives the nodes that share most words with a query, at most so many."""

    def __init__(self, nodes: Sequence[TextNode], most: int) -> None:
        super().__init__()
        self.nodes, self.most = nodes, most
        self.asked: list[str] = []

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        self.asked.append(query_bundle.query_str)
        shared = words(query_bundle.query_str)
        scored = [(len(shared & words(node.text)), node) for node in self.nodes]
        best = sorted(scored, key=lambda pair: -pair[0])[: self.most]
        return [NodeWithScore(node=node, score=float(score)) for score, node in best if score]
