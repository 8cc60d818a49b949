"""Retrieval by meaning: how alike a request and a tool are to a model of embeddings.

Needs numpy: the extra `embeddings`.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from deferred_tools.retrievers.base import Hit
from deferred_tools.retrievers.clauses import clauses
from deferred_tools.retrievers.embedder import EmbeddingError, Matrix, Vector
from deferred_tools.retrievers.fallback import FallbackRetriever
from deferred_tools.retrievers.tool_text import ToolText
from deferred_tools.retrievers.vectors import Vectors
from deferred_tools.spec import ToolSpec

QUERY_LENGTH = 4_000
"""Characters of a query that are read."""
SHARES = (0.35, 0.5, 0.15)
"""What the name, the purpose and the parameters of a tool make up of its vector."""
DECOYS = (
    *("qwertz asdf", "blorf snark", "fnord glibble", "xk9 qq1 zz", "grxtl mnop", "vlimp wug"),
    *("lorem ipsum", "zyx wvu", "hgjk tyui", "snorp quib", "dax mip", "brx 77q lm", "ulu ola"),
    *("tove wabe", "wxcv bnmq", "pfft zorp", "hello there", "thanks a lot", "what a nice day"),
)
"""Tools that nobody means: what is no more like a request than one of these is filler."""
PART = 0.5
"""What the part of a request that is most like a tool makes up of their likeness."""
DECIMALS = 6
"""Digits of a likeness that say something; the rest depends on how a processor adds."""


@dataclass(frozen=True, slots=True)
class _Index:
    names: tuple[str, ...]
    numbers: dict[str, int]
    vectors: Matrix
    """A row for each tool, then one for each decoy."""


class EmbeddingsRetriever:
    """Ranks tools by how like a request they are to a model.

    Says when the model fails, by an `EmbeddingError`: `embeddings` makes what answers all the same.
    """

    def __init__(self, vectors: Vectors) -> None:
        """Take a model's vectors, which other retrievers may use too."""
        self._vectors = vectors
        self._index = _Index((), {}, np.zeros((0, 0), np.float32))

    def index(self, specs: Sequence[ToolSpec]) -> None:
        """Take `specs` in place of whatever was indexed before. Blocks while the model works.

        Raises:
            EmbeddingError: The model gave no vectors.
        """
        names = tuple(spec.name for spec in specs)
        numbers = {name: number for number, name in enumerate(names)}
        self._index = _Index(names, numbers, self._of_tools(specs))

    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        """The best `k` tools for `query`, best first; of those named `within`, if given.

        Scores are likenesses, at most 1.

        Raises:
            EmbeddingError: The model gave no vector.
        """
        index = self._index
        if not query.strip() or not index.names:
            return []
        likeness = np.round(self._likeness(query, index.vectors), DECIMALS)
        tools, decoys = np.split(likeness, [len(index.names)])
        found = np.flatnonzero(tools > max(0.0, decoys.max()))
        if within is not None:
            allowed = [index.numbers[name] for name in set(within) if name in index.numbers]
            found = np.intersect1d(found, np.array(allowed, np.intp))
        # Stable: ties keep the order of the catalogue.
        best = found[np.argsort(-tools[found], kind="stable")][: max(k, 0)]
        return [Hit(index.names[number], float(tools[number])) for number in best]

    def likeness(self, query: str) -> Vector:
        """How like `query` each tool is, in the order of the catalogue: at most 1.

        Raises:
            EmbeddingError: The model gave no vector.
        """
        index = self._index
        return self._likeness(query, index.vectors[: len(index.names)])

    def _likeness(self, query: str, vectors: Matrix) -> Vector:
        """That of the whole request, and that of the part of it that is most like a tool."""
        if not len(vectors):
            return np.zeros(0, np.float32)
        query = query[:QUERY_LENGTH]
        asked = self._vectors.queries([query, *clauses(query)])
        if asked.shape[1] != vectors.shape[1]:
            raise EmbeddingError(
                f"The model gives {asked.shape[1]} numbers for a query, but {vectors.shape[1]} for "
                "a tool. Has it changed? Then give it another name, so that what is kept of it "
                "is not used."
            )
        # Not `@`, whose threads cost more than they save, and whose sums depend on the place.
        whole, *parts = (np.einsum("tn,n->t", vectors, one) for one in asked)
        both = (1 - PART) * whole + PART * np.max(parts, axis=0) if parts else whole
        return np.asarray(both, np.float32)

    def _of_tools(self, specs: Sequence[ToolSpec]) -> Matrix:
        """The vector of each tool, those of its texts as one; then those of the decoys."""
        tools = [ToolText.of(spec) for spec in specs]
        texts = sorted({text for tool in tools for text in tool if text})
        vectors = self._vectors.documents([*texts, *DECOYS])
        vectors, decoys = np.split(vectors, [len(texts)])
        mixed = np.zeros((len(tools), vectors.shape[1]), np.float32)
        rows = dict(zip(texts, vectors, strict=True))
        for number, tool in enumerate(tools):
            for share, text in zip(SHARES, tool, strict=True):
                if text:
                    mixed[number] += share * rows[text]
        lengths = np.linalg.norm(mixed, axis=1, keepdims=True)
        return np.concatenate([mixed / np.where(lengths > 0, lengths, 1), decoys])


def embeddings(
    vectors: Vectors, *, index_seconds: float | None = 5.0, search_seconds: float = 5.0
) -> Callable[[], FallbackRetriever]:
    """What makes retrievers by meaning, for `Toolset(retriever=...)`; all share `vectors`.

    While the model is slow or fails, `bm25` answers, and `problem` says why.

    Args:
        vectors: The model.
        index_seconds: How long new tools may wait for the model, None for as long as it takes.
            After that `bm25` answers until it is done.
        search_seconds: How long a search may wait for it.
    """
    return partial(
        FallbackRetriever,
        lambda _: EmbeddingsRetriever(vectors),
        name="embeddings",
        index_seconds=index_seconds,
        search_seconds=search_seconds,
    )
