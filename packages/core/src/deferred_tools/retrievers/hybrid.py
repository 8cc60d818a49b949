"""`hybrid`: what the words of a request say, and what a model of embeddings makes of its meaning.

The two are added, not their ranks: how much better the first is than the second must not be lost.
The longer a request, the more its words say by themselves, and the less its one vector.
"""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from heapq import nsmallest

from deferred_tools.retrievers.base import Hit
from deferred_tools.retrievers.bm25 import BM25Retriever
from deferred_tools.retrievers.embeddings import DECIMALS, EmbeddingsRetriever
from deferred_tools.retrievers.fallback import FallbackRetriever
from deferred_tools.retrievers.ranking import Evidence
from deferred_tools.retrievers.text import Analyser
from deferred_tools.retrievers.vectors import Vectors
from deferred_tools.spec import ToolSpec

CANDIDATES = 100
"""Tools that either half may propose."""
MEANING = 2.5
"""What the model's word for the best tool weighs in a short request; words weigh 1."""
WORDY = 12
"""Words that say something in a request at which it weighs half of that."""
LEAST = 0.3
"""Likeness below which even the most alike tool is not taken for alike."""
_NOTHING = Evidence(0.0, 0.0)


class HybridRetriever:
    """Ranks tools by words and by meaning, over one catalogue that others have given the words."""

    def __init__(self, words: BM25Retriever, meaning: EmbeddingsRetriever) -> None:
        """Take both halves; `words` has indexed what `index` will be given."""
        self._words = words
        self._meaning = meaning
        self._analyser = Analyser()
        self._order: dict[str, int] = {}

    def index(self, specs: Sequence[ToolSpec]) -> None:
        """Take `specs` in place of whatever was indexed before. Blocks while the model works.

        Raises:
            EmbeddingError: The model gave no vectors.
        """
        self._meaning.index(specs)
        self._order = {spec.name: number for number, spec in enumerate(specs)}

    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        """The best `k` tools for `query`, best first; of those named `within`, if given.

        Raises:
            EmbeddingError: The model gave no vector.
        """
        most = max(k, CANDIDATES)
        said = self._words.evidence(query, most, within)
        read = self._words.mended(query)  # which a model cannot do by itself
        # A tool that only the model proposes must be more like the request than filler is.
        names = said.keys() | {hit.name for hit in self._meaning.search(read, most, within)}
        alike = self._meaning.likeness(read)
        likeness = {name: float(alike[self._order[name]]) for name in names}
        closest = max([LEAST, *likeness.values()])
        share = MEANING / (1 + (len(self._analyser.stems(query)) / WORDY) ** 2) / closest
        scores = {
            name: sum(said.get(name, _NOTHING)) + share * max(0.0, round(like, DECIMALS))
            for name, like in likeness.items()
        }
        best = nsmallest(
            max(k, 0), scores.items(), key=lambda item: (-item[1], self._order[item[0]])
        )
        return [Hit(name, score) for name, score in best]


def hybrid(
    vectors: Vectors, *, index_seconds: float | None = 5.0, search_seconds: float = 5.0
) -> Callable[[], FallbackRetriever]:
    """What makes retrievers by words and meaning, for `Toolset(retriever=...)`.

    All share `vectors`. While the model is slow or fails, `bm25` answers, and `problem` says why.

    Args:
        vectors: The model.
        index_seconds: How long new tools may wait for the model, None for as long as it takes.
            After that `bm25` answers until it is done.
        search_seconds: How long a search may wait for it.
    """
    return partial(
        FallbackRetriever,
        lambda words: HybridRetriever(words, EmbeddingsRetriever(vectors)),
        name="hybrid",
        index_seconds=index_seconds,
        search_seconds=search_seconds,
    )
