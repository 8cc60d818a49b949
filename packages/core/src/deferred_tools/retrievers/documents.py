"""Engines that search documents: what they are told of a tool, and how their answers are read.

An adapter brings the engine: a `DocumentStore` that is given the tools, or a function that asks
for documents which others wrote. Both may fail and be slow: wrap what is made of them in a
`FallbackRetriever`.
"""

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import NamedTuple, Protocol
from uuid import UUID, uuid5

from deferred_tools.retrievers.base import Hit
from deferred_tools.retrievers.tool_text import ToolText
from deferred_tools.spec import ToolSpec

QUERY_LENGTH = 4_000
"""Characters of a query that an engine is asked."""
BATCH = 256
"""Tools that a store is given at once."""
FETCHES = (20, 80, 320, 1_280, 5_120, 10_000)
"""Documents that a store is asked for, more each time, until there are enough allowed tools."""
DECIMALS = 6
"""Digits of a score that say something; the rest depends on how a processor adds."""

Enough = Callable[[float], bool]
"""Whether a score, as the store gives it, is evidence."""

_ID = "deferred_tools_id"
_NAMESPACE = UUID("6e0c9d0e-5f0a-5c39-9d0a-5b8f0b7f1c11")


class ToolDocument(NamedTuple):
    """What a store is told of a tool."""

    id: str
    """A hash of the rest: a UUID, since some stores take nothing else."""
    tool: str
    text: str

    @classmethod
    def of(cls, spec: ToolSpec) -> "ToolDocument":
        """Write about `spec`."""
        text = "\n".join(filter(None, ToolText.of(spec)))
        return cls(str(uuid5(_NAMESPACE, f"{spec.name}\n{text}")), spec.name, text)

    @property
    def metadata(self) -> dict[str, str]:
        """What must come back with the document. No part of its text."""
        return {_ID: self.id, "tool": self.tool}


class Found(NamedTuple):
    """A document that a store found."""

    metadata: Mapping[str, object]
    score: float | None
    """A likeness or a distance; None if the store says neither."""


class DocumentStore(Protocol):
    """Holds documents, those of others too. Several threads may search it at once."""

    def add(self, documents: Sequence[ToolDocument]) -> None:
        """Hold `documents`, some of which may be there since another process added them."""
        ...

    def best(self, query: str, most: int) -> Sequence[Found]:
        """The best `most` documents for `query`, best first; fewer only if there are no more."""
        ...


class SharedStore:
    """A store that many retrievers share: each document is added once."""

    def __init__(self, store: DocumentStore) -> None:
        self._store = store
        self._adding = threading.Lock()
        self._there: set[str] = set()

    def add(self, documents: Sequence[ToolDocument]) -> None:
        """See `DocumentStore.add`. What was added before a failure is not added again."""
        with self._adding:
            missing = [one for one in documents if one.id not in self._there]
            for start in range(0, len(missing), BATCH):
                part = missing[start : start + BATCH]
                self._store.add(part)
                self._there.update(one.id for one in part)

    def best(self, query: str, most: int) -> Sequence[Found]:
        """See `DocumentStore.best`."""
        return self._store.best(query, most)


class StoreRetriever:
    """Ranks tools as a store ranks the documents that it was given about them."""

    def __init__(self, store: DocumentStore, enough: Enough | None = None) -> None:
        """Take a store, and which of its scores are evidence; by default all are."""
        self._store = store
        self._enough = enough
        self._tools: dict[str, tuple[int, str]] = {}

    def index(self, specs: Sequence[ToolSpec]) -> None:
        """Take `specs` in place of whatever was indexed before. Raises what the store raises."""
        documents = [ToolDocument.of(spec) for spec in specs]
        self._store.add(documents)
        self._tools = {one.id: (number, one.tool) for number, one in enumerate(documents)}

    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        """The best `k` tools for `query`, best first. Raises what the store raises."""
        tools = self._tools
        if within is not None:
            names = frozenset(within)
            tools = {one: tool for one, tool in tools.items() if tool[1] in names}
        if not query.strip() or not tools or k <= 0:
            return []
        hits: list[Hit] = []
        for most in [size for size in FETCHES if size >= 2 * k] or FETCHES[-1:]:
            documents = [
                found
                for found in self._store.best(query[:QUERY_LENGTH], most)
                if found.score is None or self._enough is None or self._enough(found.score)
            ]
            hits = _hits(documents, tools)
            # One that is worse than the last of the k shows that none of its like is missing.
            settled = len(hits) > k and hits[-1].score < hits[k - 1].score
            if settled or len(documents) < most:
                break
        return hits[:k]


class NamingRetriever:
    """Ranks tools as an engine ranks documents that name them."""

    def __init__(self, ask: Callable[[str], Iterable[Mapping[str, object]]], key: str) -> None:
        """Take what asks the engine.

        Args:
            ask: Gives the metadata of the documents for a query, best first.
            key: Where the metadata has the name, or the id, of the tool.
        """
        self._ask = ask
        self._key = key
        self._names: dict[str, str] = {}

    def index(self, specs: Sequence[ToolSpec]) -> None:
        """Take `specs` in place of whatever was indexed before."""
        ids = {spec.id: spec.name for spec in specs}
        self._names = ids | {spec.name: spec.name for spec in specs}

    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        """The best `k` tools for `query`, best first. Raises what the engine raises."""
        names = self._names
        if not query.strip() or not names:
            return []
        allowed = frozenset(names.values() if within is None else within)
        documents = self._ask(query[:QUERY_LENGTH])
        found = (names.get(str(metadata.get(self._key))) for metadata in documents)
        best = dict.fromkeys(name for name in found if name in allowed)
        return [Hit(name, 1 / rank) for rank, name in enumerate(islice(best, max(k, 0)), start=1)]


def _hits(documents: Sequence[Found], tools: Mapping[str, tuple[int, str]]) -> list[Hit]:
    """The tools that `documents` are about, each once, best first; ties in their order."""
    scores = [
        1 / rank if found.score is None else round(float(found.score), DECIMALS)
        for rank, found in enumerate(documents, start=1)
    ]
    # The best come first, so scores that rise are distances.
    sign = -1 if scores and scores[0] < scores[-1] else 1
    best: dict[tuple[int, str], float] = {}
    for document, score in zip(documents, scores, strict=True):
        tool = tools.get(str(document.metadata.get(_ID)))
        if tool is not None:
            best.setdefault(tool, sign * score)
    ranked = sorted(best.items(), key=lambda item: (-item[1], item[0]))
    return [Hit(name, score) for (_, name), score in ranked]
