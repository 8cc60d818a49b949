"""LangChain's vector stores, retrievers and embeddings find tools."""

import re
from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore
from pydantic import Field

from deferred_tools import Toolset, ToolSpec
from deferred_tools.retrievers.bm25 import BM25Retriever
from deferred_tools.retrievers.embeddings import embeddings
from deferred_tools.retrievers.fallback import FallbackRetriever
from deferred_tools.retrievers.minilm import MiniLM
from deferred_tools.retrievers.vectors import Vectors
from deferred_tools.testing.retrievers import check_retriever
from langchain_deferred_tools.retrievers import search_with

TOOLS = (
    ToolSpec(source="mail", tool="send_message", description="Send a message to a person"),
    ToolSpec(source="mail", tool="list_folders", description="List the folders of a mailbox"),
    ToolSpec(source="weather", tool="get_forecast", description="Weather forecast for a city"),
)


class WordEmbeddings(Embeddings):
    """A text is which of the words that were seen so far it has."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}
        self.embedded: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.embedded += texts
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        vector = [0.0] * 128
        vector[127] = 1e-9  # a store divides by the length
        for word in set(re.findall(r"[a-z]+", text.lower())):
            vector[self.places.setdefault(word, len(self.places) % 127)] = 1.0
        return vector


class WordRetriever(BaseRetriever):
    """Gives the documents that share most words with a query."""

    documents: list[Document]
    asked: list[str] = Field(default_factory=list)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        self.asked.append(query)
        words = set(query.lower().split())
        scored = [
            (len(words.intersection(one.page_content.lower().split())), one)
            for one in self.documents
        ]
        return [one for score, one in sorted(scored, key=lambda pair: -pair[0]) if score]


class Unscored(InMemoryVectorStore):
    """A store without scores, which cannot tell what it holds."""

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        found = InMemoryVectorStore.similarity_search_with_score(self, query, k, **kwargs)
        return [document for document, _ in found]

    def similarity_search_with_score(self, query: str, k: int = 4, **kwargs: Any) -> Any:
        raise NotImplementedError

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        raise NotImplementedError


class Distances(InMemoryVectorStore):
    """A store whose scores are distances."""

    def similarity_search_with_score(
        self, query: str, k: int = 4, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        found = super().similarity_search_with_score(query, k, **kwargs)
        return [(document, 1 - score) for document, score in found]


def over(store: InMemoryVectorStore, tools: Sequence[ToolSpec] = TOOLS) -> FallbackRetriever:
    retriever = search_with(store)()
    retriever.index(tools)
    assert retriever.problem == ""
    return retriever


def names(retriever: FallbackRetriever, query: str, **options: Any) -> list[str]:
    found = [hit.name for hit in retriever.search(query, options.pop("k", 5), **options)]
    assert retriever.problem == ""
    return found


def test_a_vector_store_keeps_the_promises_of_a_retriever() -> None:
    made: list[FallbackRetriever] = []

    def make() -> FallbackRetriever:
        store = InMemoryVectorStore(WordEmbeddings())
        made.append(search_with(store, enough=lambda likeness: likeness > 0.05)())
        return made[-1]

    check_retriever(make)
    assert [retriever.problem for retriever in made if retriever.problem] == []


@pytest.mark.parametrize("kind", [InMemoryVectorStore, Unscored, Distances])
def test_a_store_ranks_the_tools_best_first(kind: type[InMemoryVectorStore]) -> None:
    retriever = over(kind(WordEmbeddings()))
    assert names(retriever, "the forecast of a city")[0] == "weather__get_forecast"
    scores = [hit.score for hit in retriever.search("message", 5)]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == 3


def test_a_restart_adds_nothing_twice() -> None:
    embeddings = WordEmbeddings()
    store = InMemoryVectorStore(embeddings)
    over(store)
    over(store)
    assert len(embeddings.embedded) == len(store.store) == 3
    changed = ToolSpec(source="mail", tool="send_message", description="Post a letter")
    retriever = over(store, (changed, *TOOLS[1:]))
    assert len(embeddings.embedded) == 4
    assert names(retriever, "letter")[0] == "mail__send_message"


def test_a_store_that_cannot_tell_what_it_holds_is_told_again() -> None:
    store = Unscored(WordEmbeddings())
    over(store)
    over(store)
    assert len(store.store) == 3


def test_retrievers_of_one_factory_add_a_tool_once() -> None:
    embeddings = WordEmbeddings()
    make = search_with(Unscored(embeddings))
    for retriever in (make(), make()):
        retriever.index(TOOLS)
    assert len(embeddings.embedded) == 3


def test_other_documents_and_tools_of_others_are_not_found() -> None:
    store = InMemoryVectorStore(WordEmbeddings())
    store.add_documents([Document(page_content="message", metadata={"tool": "mail__send_message"})])
    others = over(store, (ToolSpec(source="other", tool="message", description="A message"),))
    retriever = over(store)
    assert sorted(names(retriever, "message")) == sorted(spec.name for spec in TOOLS)
    assert names(others, "message") == ["other__message"]


def test_as_many_allowed_tools_are_found_as_were_asked_for() -> None:
    store = InMemoryVectorStore(WordEmbeddings())
    crowd = [
        ToolSpec(source="crowd", tool=f"message_{number}", description="Message message")
        for number in range(300)
    ]
    retriever = over(store, (*crowd, *TOOLS))
    allowed = {"weather__get_forecast", "mail__send_message", "none__such"}
    found = names(retriever, "message", k=2, within=allowed)
    assert found == ["mail__send_message", "weather__get_forecast"]
    assert names(retriever, "message", within=()) == []


def test_a_retriever_finds_the_tools_that_its_documents_name() -> None:
    engine = WordRetriever(
        documents=[
            Document(page_content="how to post a letter", metadata={"tool": "mail__send_message"}),
            Document(page_content="letter again", metadata={"tool": "mail__send_message"}),
            Document(page_content="letter of somebody else", metadata={"tool": "none__such"}),
            Document(page_content="a letter without a tool"),
            Document(page_content="letter rain", metadata={"tool": "weather__get_forecast"}),
        ]
    )
    retriever = search_with(engine)()
    retriever.index(TOOLS)
    assert names(retriever, "post a letter") == ["mail__send_message", "weather__get_forecast"]
    assert names(retriever, "letter", within={"weather__get_forecast"}) == ["weather__get_forecast"]
    assert names(retriever, "letter", k=1) == ["mail__send_message"]
    assert names(retriever, "nothing") == []
    asked = len(engine.asked)
    assert names(retriever, "  ") == []
    assert len(engine.asked) == asked


def test_a_retriever_may_name_tools_by_id_and_under_another_key() -> None:
    engine = WordRetriever(documents=[Document(page_content="hi", metadata={"for": "mail__send"})])
    retriever = search_with(engine, key="for")()
    retriever.index([ToolSpec(source="mail", tool="send", name="send_2")])
    assert names(retriever, "hi") == ["send_2"]


def test_an_engine_that_fails_is_replaced_by_bm25_with_a_reason() -> None:
    class Failing(InMemoryVectorStore):
        def similarity_search_with_score(self, query: str, k: int = 4, **kwargs: Any) -> Any:
            raise ConnectionError("postgres://user:s3cret@db")

    retriever = over(Failing(WordEmbeddings()))
    bm25 = BM25Retriever()
    bm25.index(TOOLS)
    assert retriever.search("forecast", 5) == bm25.search("forecast", 5)
    assert "ConnectionError" in retriever.problem
    assert "s3cret" not in retriever.problem


@pytest.mark.parametrize("model", [WordEmbeddings(), DeterministicFakeEmbedding(size=16)])
def test_a_model_of_embeddings_needs_no_adapter(model: Embeddings) -> None:
    retriever = embeddings(Vectors(model))()
    retriever.index(TOOLS)
    first = retriever.search("Weather forecast for a city", 1)
    assert retriever.problem == ""
    assert first == retriever.search("Weather forecast for a city", 1)
    if isinstance(model, WordEmbeddings):
        assert [hit.name for hit in first] == ["weather__get_forecast"]


def test_a_store_over_a_real_model_finds_by_meaning() -> None:
    class Real(Embeddings):
        def __init__(self) -> None:
            self.model = MiniLM()

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            vectors: list[list[float]] = self.model.embed_documents(texts).tolist()
            return vectors

        def embed_query(self, text: str) -> list[float]:
            return self.embed_documents([text])[0]

    retriever = over(InMemoryVectorStore(Real()))
    assert names(retriever, "will it rain tomorrow?", k=1) == ["weather__get_forecast"]
    assert names(retriever, "write to a colleague", k=1) == ["mail__send_message"]


def test_a_toolset_searches_with_a_store() -> None:
    def get_forecast(city: str) -> str:
        """Weather forecast for a city."""
        return city

    store = InMemoryVectorStore(WordEmbeddings())
    with Toolset.from_sources([get_forecast], retriever=search_with(store)) as toolset:
        assert [spec.name for spec in toolset.registry.specs] == ["get_forecast"]
    assert len(store.store) == 1
