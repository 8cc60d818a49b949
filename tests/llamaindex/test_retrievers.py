"""LlamaIndex's indexes, retrievers and embeddings find tools."""

from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from llama_index.core import StorageContext, VectorStoreIndex, load_index_from_storage
from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.embeddings import MockEmbedding
from llama_index.core.schema import BaseNode, NodeWithScore, QueryBundle, TextNode
from llama_index.core.vector_stores import SimpleVectorStore, VectorStoreQueryResult
from llama_index.core.vector_stores.types import VectorStoreQuery

from deferred_tools import Caller, Session, Toolset, ToolSpec
from deferred_tools.errors import ConfigurationError
from deferred_tools.retrievers.bm25 import BM25Retriever
from deferred_tools.retrievers.fallback import FallbackRetriever
from deferred_tools.testing.retrievers import check_retriever
from llama_index.tools.deferred.retrievers import search_with
from tests.llamaindex.word_engines import (
    Database,
    Distances,
    Forgetful,
    New,
    WordEmbedding,
    WordRetriever,
)

TOOLS = (
    ToolSpec(source="mail", tool="send_message", description="Send a message to a person"),
    ToolSpec(source="mail", tool="list_folders", description="List the folders of a mailbox"),
    ToolSpec(source="weather", tool="get_forecast", description="Weather forecast for a city"),
)
POST = ToolSpec(source="mail", tool="send_message", description="Post a letter")


def index_of(store: SimpleVectorStore, model: BaseEmbedding | None = None) -> VectorStoreIndex:
    context = StorageContext.from_defaults(vector_store=store)
    return VectorStoreIndex([], storage_context=context, embed_model=model or WordEmbedding())


def over(
    engine: VectorStoreIndex | Callable[..., BaseRetriever], tools: Sequence[ToolSpec] = TOOLS
) -> FallbackRetriever:
    retriever = search_with(engine)()
    retriever.index(tools)
    assert retriever.problem == ""
    return retriever


def names(retriever: FallbackRetriever, query: str, **options: Any) -> list[str]:
    found = [hit.name for hit in retriever.search(query, options.pop("k", 5), **options)]
    assert retriever.problem == ""
    return found


@pytest.mark.parametrize("kind", ["in process", "database", "function"])
def test_an_engine_keeps_the_promises_of_a_retriever(kind: str) -> None:
    made: list[FallbackRetriever] = []

    def make() -> FallbackRetriever:
        if kind == "function":
            made.append(search_with(WordRetriever)())
        else:
            store = SimpleVectorStore() if kind == "in process" else Database()
            made.append(search_with(index_of(store), enough=lambda likeness: likeness > 0.05)())
        return made[-1]

    check_retriever(make)
    assert [retriever.problem for retriever in made if retriever.problem] == []


@pytest.mark.parametrize("kind", [SimpleVectorStore, Database, Forgetful, Distances])
def test_an_index_ranks_the_tools_best_first(kind: type[SimpleVectorStore]) -> None:
    retriever = over(index_of(kind()))
    assert names(retriever, "the forecast of a city")[0] == "weather__get_forecast"
    scores = [hit.score for hit in retriever.search("message", 5)]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == 3


@pytest.mark.parametrize("kind", [SimpleVectorStore, Database, New])
def test_a_restart_adds_nothing_twice(kind: type[SimpleVectorStore]) -> None:
    model = WordEmbedding()
    index = index_of(kind(), model)
    over(index)
    over(index)
    assert len(model.embedded) == 3
    retriever = over(index, (POST, *TOOLS[1:]))
    assert len(model.embedded) == 4
    assert names(retriever, "letter")[0] == "mail__send_message"


def test_an_index_that_was_stored_is_not_told_again(tmp_path: Path) -> None:
    before = index_of(SimpleVectorStore())
    over(before)
    before.storage_context.persist(tmp_path)
    model = WordEmbedding()
    context = StorageContext.from_defaults(persist_dir=str(tmp_path))
    after = load_index_from_storage(context, embed_model=model)
    assert isinstance(after, VectorStoreIndex)
    assert len(names(over(after), "message")) == 3
    assert model.embedded == []


def test_a_store_that_cannot_tell_what_it_holds_is_told_again() -> None:
    store = Forgetful()
    over(index_of(store))
    over(index_of(store))
    assert len(store.nodes) == 3


def test_retrievers_of_one_factory_add_a_tool_once() -> None:
    model = WordEmbedding()
    make = search_with(index_of(Forgetful(), model))
    for retriever in (make(), make()):
        retriever.index(TOOLS)
    assert len(model.embedded) == 3


def test_an_index_in_this_process_is_not_searched_while_it_grows() -> None:
    searched = Event()

    class Growing(SimpleVectorStore):
        def add(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[str]:
            searching = Thread(target=retriever.search, args=("message", 5))
            searching.start()
            assert not searched.wait(0.2)
            threads.append(searching)
            return super().add(nodes, **kwargs)

        def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
            searched.set()
            return super().query(query, **kwargs)

    threads: list[Thread] = []
    make = search_with(index_of(Growing()))
    retriever = make()
    retriever.index(TOOLS[:1])
    other = make()
    other.index(TOOLS)
    for thread in threads:
        thread.join(5)
    assert (retriever.problem, other.problem) == ("", "")
    assert searched.is_set()


def test_a_model_reads_what_a_tool_says_and_not_how_it_is_filed() -> None:
    model = WordEmbedding()
    over(index_of(SimpleVectorStore(), model), TOOLS[:1])
    assert model.embedded == ["send message (mail)\nSend a message to a person"]


def test_other_nodes_and_tools_of_others_are_not_found() -> None:
    index = index_of(SimpleVectorStore())
    index.insert_nodes([TextNode(text="message", metadata={"tool": "mail__send_message"})])
    others = over(index, (ToolSpec(source="other", tool="message", description="A message"),))
    retriever = over(index)
    assert sorted(names(retriever, "message")) == sorted(spec.name for spec in TOOLS)
    assert names(others, "message") == ["other__message"]


@pytest.mark.parametrize(
    "engine",
    [lambda: index_of(SimpleVectorStore()), lambda: WordRetriever],
    ids=["index", "function"],
)
def test_as_many_allowed_tools_are_found_as_were_asked_for(engine: Callable[[], Any]) -> None:
    crowd = [
        ToolSpec(source="crowd", tool=f"message_{number}", description="Message message to a city")
        for number in range(300)
    ]
    retriever = over(engine(), (*crowd, *TOOLS))
    allowed = {"weather__get_forecast", "mail__send_message", "none__such"}
    found = names(retriever, "message city", k=2, within=allowed)
    assert sorted(found) == ["mail__send_message", "weather__get_forecast"]
    assert names(retriever, "message", within=()) == []
    tied = names(retriever, "crowd", k=30)
    assert tied == [spec.name for spec in crowd[:30]]


def test_a_function_makes_few_retrievers_over_the_tools_of_the_moment() -> None:
    made: list[tuple[int, int]] = []

    def build(nodes: Sequence[TextNode], most: int) -> BaseRetriever:
        made.append((len(nodes), most))
        return WordRetriever(nodes, most)

    tools = [ToolSpec(source="crowd", tool=f"message_{number}") for number in range(100)]
    retriever = over(build, tools)
    for k in (1, 5, 10, 1, 12, 39, 40):
        assert len(names(retriever, "message", k=k)) == k
    assert made == [(100, 20), (100, 80), (100, 100)]
    retriever.index(tools[1:3])
    assert names(retriever, "message") == ["crowd__message_1", "crowd__message_2"]
    retriever.index(())
    assert names(retriever, "message") == []
    assert made[3:] == [(2, 2)]


def test_a_retriever_finds_the_tools_that_its_nodes_name() -> None:
    post, rain = {"tool": "mail__send_message"}, {"tool": "weather__get_forecast"}
    nodes = [
        TextNode(text="how to post a letter", metadata=post),
        TextNode(text="letter again", metadata=post),
        TextNode(text="letter of somebody else", metadata={"tool": "none__such"}),
        TextNode(text="a letter without a tool"),
        TextNode(text="letter rain", metadata=rain),
    ]
    engine = WordRetriever(nodes, 10)
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
    engine = WordRetriever([TextNode(text="hi", metadata={"for": "mail__send"})], 10)
    retriever = search_with(engine, key="for")()
    retriever.index([ToolSpec(source="mail", tool="send", name="send_2")])
    assert names(retriever, "hi") == ["send_2"]


class FailingRetriever(BaseRetriever):
    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        raise ConnectionError("postgres://user:s3cret@db")


class FailingStore(SimpleVectorStore):
    def query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        raise ConnectionError("postgres://user:s3cret@db")


def fail_to_build(nodes: Sequence[TextNode], most: int) -> BaseRetriever:
    raise ConnectionError("postgres://user:s3cret@db")


@pytest.mark.parametrize(
    ("engine", "named"),
    [
        (FailingRetriever, "FailingRetriever"),
        (lambda: index_of(FailingStore()), "VectorStoreIndex"),
        (lambda: lambda nodes, most: FailingRetriever(), "your retriever"),
        (lambda: fail_to_build, "your retriever"),
    ],
    ids=["retriever", "index", "function", "building"],
)
def test_an_engine_that_fails_is_replaced_by_bm25_with_a_reason(
    engine: Callable[[], Any], named: str
) -> None:
    retriever = search_with(engine())()
    retriever.index(TOOLS)
    bm25 = BM25Retriever()
    bm25.index(TOOLS)
    assert retriever.search("forecast", 5) == bm25.search("forecast", 5)
    assert retriever.problem.startswith(f"{named} raised ConnectionError")
    assert "s3cret" not in retriever.problem


@pytest.mark.parametrize("engine", [SimpleVectorStore(), MockEmbedding(8), "bm25"], ids=type)
def test_what_is_no_engine_is_refused_with_the_cure(engine: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"from_vector_store.*Vectors") as raised:
        search_with(engine)
    assert f"not {type(engine).__name__}." in str(raised.value)


def test_a_toolset_enables_what_an_index_finds() -> None:
    def get_forecast(city: str) -> str:
        """Weather forecast for a city."""
        return city

    def send_message(person: str) -> str:
        """Send a message to a person."""
        return person

    model = WordEmbedding()
    make = search_with(index_of(SimpleVectorStore(), model), enough=lambda likeness: likeness > 0.1)
    with Toolset.from_sources([get_forecast, send_message], retriever=make) as toolset:
        outcome = toolset.search(Session(caller=Caller.root()), {"query": "forecast of a city"})
        assert [spec.name for spec in outcome.enabled][:1] == ["get_forecast"]
        assert toolset.search(Session(caller=Caller.root()), {"query": "zzqx"}).enabled == ()
    assert len(model.embedded) == 2
