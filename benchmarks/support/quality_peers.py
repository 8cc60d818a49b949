"""Other people's searches, each as a retriever of ours, so that one measure serves all.

Each is used as its documentation shows, with its own defaults. Those that search any text are
given the same one: all that ours searches of a tool. What is not installed raises ImportError when
it is made. Nothing here needs a network or a model.
"""

import asyncio
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module, metadata

from deferred_tools.retrievers.base import Hit, Retriever
from deferred_tools.retrievers.text import SearchText
from deferred_tools.spec import Tier, ToolSpec

Ranking = Iterable[tuple[int, float]]
"""Numbers of tools and their scores, best first."""
Search = Callable[[str, int], Ranking]
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Peer:
    """A retriever from a function that indexes tools and gives what searches them."""

    def __init__(self, build: Callable[[Sequence[ToolSpec]], Search]) -> None:
        self._build = build
        self._names: tuple[str, ...] = ()
        self._search: Search = lambda _query, _k: ()

    def index(self, specs: Sequence[ToolSpec]) -> None:
        """Take `specs` in place of whatever was indexed before."""
        self._names = tuple(spec.name for spec in specs)
        self._search = self._build(specs)

    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        """The best `k` of those that have any evidence, best first."""
        total = len(self._names)
        ranking = self._search(query, min(k, total) if within is None else total)
        found = [Hit(self._names[number], score) for number, score in ranking if score > 0]
        return [hit for hit in found if within is None or hit.name in within][:k]


def fields(spec: ToolSpec) -> dict[str, str]:
    """All that is searched of a tool, by the name of the field."""
    told = SearchText.of(spec)
    return {
        "name": told.name,
        "server": told.source if spec.tier is Tier.MCP else "",
        "description": told.description,
        "parameters": told.parameters,
        "details": told.details,
    }


def text(spec: ToolSpec) -> str:
    """All that is searched of a tool, as one text."""
    return "\n".join(fields(spec).values())


def cut(words: str) -> str:
    """`words` with those of camelCase and snake_case apart."""
    return _CAMEL.sub(" ", words).replace("_", " ")


def bm25s(prepare: Callable[[str], str] = str) -> Retriever:
    """bm25s with its own tokenizer, its stop words and the stemmer that it recommends."""
    library, stemmer = import_module("bm25s"), import_module("Stemmer").Stemmer("english")
    tokens = partial(library.tokenize, stopwords="en", stemmer=stemmer, show_progress=False)

    def build(specs: Sequence[ToolSpec]) -> Search:
        made = library.BM25()
        made.index(tokens([prepare(text(spec)) for spec in specs]), show_progress=False)

        def search(query: str, k: int) -> Ranking:
            asked = tokens([prepare(query)], return_ids=False)
            if not asked[0]:
                return ()
            (numbers,), (scores,) = made.retrieve(asked, k=k, show_progress=False)
            return zip(numbers, map(float, scores), strict=True)

        return search

    return Peer(build)


def rank_bm25() -> Retriever:
    """rank-bm25, which has no tokenizer: lower-case words of letters and digits."""
    library = import_module("rank_bm25")
    words = re.compile(r"[a-z0-9]+")

    def build(specs: Sequence[ToolSpec]) -> Search:
        made = library.BM25Okapi([words.findall(text(spec).lower()) for spec in specs])

        def search(query: str, k: int) -> Ranking:
            scores = made.get_scores(words.findall(query.lower()))
            return [(number, scores[number]) for number in (-scores).argsort(kind="stable")[:k]]

        return search

    return Peer(build)


def tantivy() -> Retriever:
    """Tantivy with a field for each kind of text and its default tokenizer."""
    library = import_module("tantivy")

    def build(specs: Sequence[ToolSpec]) -> Search:
        documents = [fields(spec) for spec in specs]
        names = list(documents[0])
        builder = library.SchemaBuilder()
        builder.add_unsigned_field("number", stored=True)
        for name in names:
            builder.add_text_field(name)
        index = library.Index(builder.build())
        writer = index.writer(num_threads=1)
        for number, document in enumerate(documents):
            writer.add_document(library.Document(number=number, **document))
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        searcher = index.searcher()

        def search(query: str, k: int) -> Ranking:
            plain = re.sub(r"[^\w\s]", " ", query)  # what is left of its query language
            asked, _ = index.parse_query_lenient(plain, names)
            found = searcher.search(asked, k).hits
            return [(searcher.doc(place)["number"][0], score) for score, place in found]

        return search

    return Peer(build)


def fastmcp() -> Retriever:
    """What FastMCP's search tool finds; a server's name is in front of its tools, as if mounted."""
    made: Retriever = import_module("benchmarks.support.whole_search").FastMCPSearch()
    return made


def ratel() -> Retriever:
    """ratel-ai without a model, as it is by default."""
    library = import_module("ratel_ai")

    def build(specs: Sequence[ToolSpec]) -> Search:
        registry = library.ToolRegistry()

        async def register() -> None:
            await registry.register(
                library.Tool(
                    id=spec.name,
                    name=spec.tool,
                    description=spec.description,
                    input_schema=dict(spec.input_schema or {}),
                )
                for spec in specs
            )

        asyncio.run(register())
        numbers = {spec.name: number for number, spec in enumerate(specs)}
        return lambda query, k: [
            (numbers[hit.tool_id], hit.score) for hit in registry.search(query, k)
        ]

    return Peer(build)


def langchain() -> Retriever:
    """LangChain's retriever without a model, which splits at white space and fills up."""
    library = import_module("langchain_community.retrievers.bm25")
    import_module("rank_bm25")

    def build(specs: Sequence[ToolSpec]) -> Search:
        numbers = [{"number": number} for number in range(len(specs))]
        made = library.BM25Retriever.from_texts([text(spec) for spec in specs], numbers)

        def search(query: str, k: int) -> Ranking:
            made.k = k
            ranked = enumerate(made.invoke(query), start=1)  # it tells no scores
            return [(found.metadata["number"], 1 / rank) for rank, found in ranked]

        return search

    return Peer(build)


def llamaindex() -> Retriever:
    """LlamaIndex's retriever without a model, over what its object index says of a tool."""
    library = import_module("llama_index.retrievers.bm25")
    schema = import_module("llama_index.core.schema")

    def build(specs: Sequence[ToolSpec]) -> Search:
        nodes = [
            schema.TextNode(
                id_=str(number),
                text=f"Tool name: {spec.name}\nTool description: {spec.description}\n"
                f"Tool schema: {dict(spec.input_schema or {})}\n",
            )
            for number, spec in enumerate(specs)
        ]
        made = library.BM25Retriever.from_defaults(nodes=nodes)

        def search(query: str, k: int) -> Ranking:
            made.similarity_top_k = k
            return [(int(found.node.node_id), found.score) for found in made.retrieve(query)]

        return search

    return Peer(build)


PEERS: dict[str, Callable[[], Retriever]] = {
    "bm25s": bm25s,
    "bm25s-cut": partial(bm25s, cut),
    "rank-bm25": rank_bm25,
    "tantivy": tantivy,
    "fastmcp": fastmcp,
    "ratel-ai": ratel,
    "langchain": langchain,
    "llama-index": llamaindex,
}
DISTRIBUTIONS = (
    *("bm25s", "pystemmer", "rank-bm25", "tantivy", "fastmcp", "ratel-ai"),
    *("langchain-community", "llama-index-retrievers-bm25"),
)


def versions() -> dict[str, str]:
    """The version of each distribution that peers come from, of those that are installed."""
    installed: dict[str, str] = {}
    for name in DISTRIBUTIONS:
        with suppress(metadata.PackageNotFoundError):
            installed[name] = metadata.version(name)
    return installed
