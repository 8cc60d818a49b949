"""LlamaIndex's models of embeddings are models of ours, as they are."""

import asyncio

import pytest
from llama_index.core import VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.embeddings import MockEmbedding
from pydantic import Field, PrivateAttr

from deferred_tools import Caller, Session, Toolset, ToolSpec
from deferred_tools.retrievers.embeddings import embeddings
from deferred_tools.retrievers.hybrid import hybrid
from deferred_tools.retrievers.minilm import MiniLM
from deferred_tools.retrievers.vectors import Vectors
from llama_index.tools.deferred.retrievers import search_with
from tests.llamaindex.word_engines import WordEmbedding

TOOLS = (
    ToolSpec(source="mail", tool="send_message", description="Send a message to a person"),
    ToolSpec(source="mail", tool="list_folders", description="List the folders of a mailbox"),
    ToolSpec(source="weather", tool="get_forecast", description="Weather forecast for a city"),
)


class Real(BaseEmbedding):
    """The packaged model, behind LlamaIndex's interface."""

    _model: MiniLM = PrivateAttr(default_factory=MiniLM)

    def _get_text_embedding(self, text: str) -> list[float]:
        vector: list[float] = self._model.embed_documents([text])[0].tolist()
        return vector

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


@pytest.mark.parametrize("model", [WordEmbedding(), MockEmbedding(8)], ids=["words", "mock"])
def test_a_model_needs_no_adapter(model: BaseEmbedding) -> None:
    retriever = embeddings(Vectors(model))()
    retriever.index(TOOLS)
    first = retriever.search("Weather forecast for a city", 1)
    assert retriever.problem == ""
    assert first == retriever.search("Weather forecast for a city", 1)
    if isinstance(model, WordEmbedding):
        assert [hit.name for hit in first] == ["weather__get_forecast"]


def test_texts_are_embedded_in_batches_and_queries_as_queries() -> None:
    class Batched(WordEmbedding):
        batches: list[int] = Field(default_factory=list)
        queries: list[str] = Field(default_factory=list)

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            self.batches.append(len(texts))
            return super()._get_text_embeddings(texts)

        def _get_query_embedding(self, query: str) -> list[float]:
            self.queries.append(query)
            return super()._get_query_embedding(query)

    model = Batched(embed_batch_size=4)
    vectors = Vectors(model, batch=6)
    assert vectors.documents([f"text {number}" for number in range(9)]).shape == (9, 128)
    assert model.batches == [4, 2, 3]
    model.queries.clear()
    assert vectors.queries(["one", "two"]).shape == (2, 128)
    assert model.queries == ["one", "two"]


def test_a_running_event_loop_is_no_obstacle() -> None:
    def get_forecast(city: str) -> str:
        """Weather forecast for a city."""
        return city

    async def enabled() -> list[str]:
        make = hybrid(Vectors(WordEmbedding()))
        async with Toolset.from_sources([get_forecast], retriever=make) as toolset:
            outcome = toolset.search(Session(caller=Caller.root()), {"query": "the forecast"})
            assert toolset.status()["warnings"] == []
            return [spec.name for spec in outcome.enabled]

    assert asyncio.run(enabled()) == ["get_forecast"]


@pytest.mark.parametrize("kind", ["embeddings", "index"])
def test_a_real_model_finds_by_meaning(kind: str) -> None:
    if kind == "embeddings":
        make = embeddings(Vectors(Real()), index_seconds=None)
    else:
        make = search_with(VectorStoreIndex([], embed_model=Real()), index_seconds=None)
    retriever = make()
    retriever.index(TOOLS)
    for query, name in (
        ("will it rain tomorrow?", "weather__get_forecast"),
        ("write to a colleague", "mail__send_message"),
    ):
        assert [hit.name for hit in retriever.search(query, 1)] == [name]
    assert retriever.problem == ""
