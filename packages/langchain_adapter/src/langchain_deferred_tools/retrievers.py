"""LangChain's vector stores and retrievers as engines that find tools.

Models of embeddings need nothing of this: `deferred_tools.retrievers.vectors.Vectors` takes
LangChain's `Embeddings` as they are.
"""

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from itertools import islice
from uuid import UUID, uuid5

from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import VectorStore

from deferred_tools import Hit, Retriever, ToolSpec
from deferred_tools.retrievers.fallback import FallbackRetriever
from deferred_tools.retrievers.tool_text import ToolText

QUERY_LENGTH = 4_000
"""Characters of a query that an engine is asked."""
BATCH = 256
"""Tools that a store is given at once."""
FEWEST, MOST = 20, 10_000
"""Documents that a store is asked for: at first, and at most, to find as many allowed tools."""

Enough = Callable[[float], bool]
"""Whether a score, as the store gives it, is evidence."""

_ID = "deferred_tools_id"
_NAMESPACE = UUID("6e0c9d0e-5f0a-5c39-9d0a-5b8f0b7f1c11")


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
    make: Callable[[], Retriever] = (
        partial(_StoreRetriever, _Store(engine), enough)
        if isinstance(engine, VectorStore)
        else partial(_DocumentRetriever, engine, key)
    )
    return partial(
        FallbackRetriever,
        lambda _: make(),
        name=type(engine).__name__,
        index_seconds=index_seconds,
        search_seconds=search_seconds,
    )


class _DocumentRetriever:
    """Ranks tools as a retriever ranks documents about them."""

    def __init__(self, engine: BaseRetriever, key: str) -> None:
        self._engine = engine
        self._key = key
        self._names: dict[str, str] = {}

    def index(self, specs: Sequence[ToolSpec]) -> None:
        ids = {spec.id: spec.name for spec in specs}
        self._names = ids | {spec.name: spec.name for spec in specs}

    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        names = self._names
        if not query.strip() or not names:
            return []
        allowed = frozenset(names.values() if within is None else within)
        documents = self._engine.invoke(query[:QUERY_LENGTH])
        found = (names.get(str(document.metadata.get(self._key))) for document in documents)
        best = dict.fromkeys(name for name in found if name in allowed)
        return [Hit(name, 1 / rank) for rank, name in enumerate(islice(best, max(k, 0)), start=1)]


class _Store:
    """A vector store that many retrievers share."""

    def __init__(self, store: VectorStore) -> None:
        self._store = store
        self._adding = threading.Lock()
        self._there: set[str] = set()

    def add(self, documents: Mapping[str, Document]) -> None:
        """Add, by id, those documents that are not there yet."""
        with self._adding:
            ids = [one for one in documents if one not in self._there]
            for start in range(0, len(ids), BATCH):
                part = ids[start : start + BATCH]
                there = self._known(part)
                missing = [one for one in part if one not in there]
                if missing:
                    self._store.add_documents([documents[one] for one in missing], ids=missing)
                self._there.update(part)

    def best(self, query: str, most: int) -> list[tuple[Document, float | None]]:
        """The best documents for `query`, best first, with their scores if the store has any."""
        try:
            return list(self._store.similarity_search_with_score(query, k=most))
        except NotImplementedError:
            return [(document, None) for document in self._store.similarity_search(query, k=most)]

    def _known(self, ids: list[str]) -> set[str | None]:
        try:
            return {document.id for document in self._store.get_by_ids(ids)}
        except NotImplementedError:  # it cannot tell: what is there is replaced
            return set()


class _StoreRetriever:
    """Ranks tools as a vector store ranks documents about them."""

    def __init__(self, store: _Store, enough: Enough | None) -> None:
        self._store = store
        self._enough = enough
        self._tools: dict[str, tuple[int, str]] = {}

    def index(self, specs: Sequence[ToolSpec]) -> None:
        documents = [_document(spec) for spec in specs]
        self._store.add({str(document.id): document for document in documents})
        self._tools = {
            str(document.id): (number, spec.name)
            for number, (document, spec) in enumerate(zip(documents, specs, strict=True))
        }

    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        tools = self._tools
        if within is not None:
            names = frozenset(within)
            tools = {one: tool for one, tool in tools.items() if tool[1] in names}
        if not query.strip() or not tools or k <= 0:
            return []
        fetch = max(FEWEST, 2 * k)
        while True:
            documents = [
                (document, score)
                for document, score in self._store.best(query[:QUERY_LENGTH], fetch)
                if score is None or self._enough is None or self._enough(score)
            ]
            hits = _hits(documents, tools)
            # One that is worse than the last of the k shows that none of its like is missing.
            settled = len(hits) > k and hits[-1].score < hits[k - 1].score
            if settled or len(documents) < fetch or fetch >= MOST:
                return hits[:k]
            fetch = min(MOST, 4 * fetch)


def _hits(
    documents: Sequence[tuple[Document, float | None]], tools: Mapping[str, tuple[int, str]]
) -> list[Hit]:
    """The tools that `documents` are about, each once, best first; ties in their order."""
    scores = [
        1 / rank if score is None else float(score) for rank, (_, score) in enumerate(documents, 1)
    ]
    # The best come first, so scores that rise are distances.
    sign = -1 if scores and scores[0] < scores[-1] else 1
    found: dict[tuple[int, str], float] = {}
    for (document, _), score in zip(documents, scores, strict=True):
        tool = tools.get(str(document.metadata.get(_ID)))
        if tool is not None:
            found.setdefault(tool, sign * score)
    best = sorted(found.items(), key=lambda item: (-item[1], item[0]))
    return [Hit(name, score) for (_, name), score in best]


def _document(spec: ToolSpec) -> Document:
    """What a store is told of a tool. Its id is a UUID, since some stores take nothing else."""
    text = "\n".join(filter(None, ToolText.of(spec)))
    one = str(uuid5(_NAMESPACE, f"{spec.name}\n{text}"))
    return Document(id=one, page_content=text, metadata={_ID: one, "tool": spec.name})
