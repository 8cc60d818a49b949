"""The default retriever: BM25 over the fields of a tool, sharpened for tools and requests.

Offline and deterministic; pure Python, and faster over large catalogues where numpy is installed,
with the same results. What tools say is worked out when they come; `search` only reads.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from heapq import nsmallest

from deferred_tools.retrievers.base import Hit
from deferred_tools.retrievers.engine import Engine, engine_for
from deferred_tools.retrievers.explaining import explain
from deferred_tools.retrievers.explanation import Explanation
from deferred_tools.retrievers.indexed import Indexed
from deferred_tools.retrievers.meaning import read_meaning
from deferred_tools.retrievers.ranking import Evidence, Ranking, rank
from deferred_tools.retrievers.text import Analyser
from deferred_tools.spec import ToolSpec

QUERY_LENGTH = 4_000
"""Characters of a query that are read."""


class BM25Retriever:
    """Ranks tools by the words that they share with a request; exact names come first."""

    def __init__(
        self,
        *,
        language: str = "english",
        meaning: bool = True,
        engine: Callable[[int], Engine] = engine_for,
    ) -> None:
        """Nothing is read yet.

        Args:
            language: Whose endings words lose: a language of the Snowball stemmers.
            meaning: Whether the model in the package, which knows English, has a say.
            engine: Makes what searches so many tools.

        Raises:
            ConfigurationError: There is no stemmer for that language.
        """
        self._analyser = Analyser(language)
        self._meaning = meaning and language == "english"
        self._engine = engine
        self._index: Indexed | None = None

    def index(self, specs: Sequence[ToolSpec]) -> None:
        """Take `specs` in place of whatever was indexed before."""
        meaning = read_meaning() if self._meaning else None
        index = Indexed(self._analyser, meaning, self._engine(len(specs)))
        index.add(specs)
        self._index = index

    def add(self, specs: Iterable[ToolSpec]) -> None:
        """Add tools, or replace those of the same names, behind all that are there."""
        if self._index is None:
            self.index(tuple(specs))
        else:
            self._index.add(specs)

    def remove(self, names: Iterable[str]) -> None:
        """Remove the tools of these names; names that are not there are passed over."""
        if self._index is not None:
            self._index.remove(names)

    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        """The best `k` tools for `query`, best first; of those named `within`, if given."""
        index = self._index
        if index is None or k <= 0:
            return []
        with index.lock:
            ranking = self._ranking(index, query, k, within)
            scored = zip(ranking.scores(), ranking.numbers, strict=True)
            best = nsmallest(k, ((-score, number) for score, number in scored if score))
            return [Hit(index.tools[number].spec.name, -score) for score, number in best]

    def evidence(
        self, query: str, k: int, within: Collection[str] | None = None
    ) -> dict[str, Evidence]:
        """By name, what the words of `query` say for the tools that hold them: about the best `k`.

        For retrievers that add a better judgement of what words mean.
        """
        index = self._index
        if index is None:
            return {}
        with index.lock:
            ranking = self._ranking(index, query, k, within)
            names = [index.tools[number].spec.name for number in ranking.numbers]
            return {
                name: evidence
                for name, evidence in zip(names, ranking.evidence(), strict=True)
                if evidence != (0.0, 0.0)
            }

    def mended(self, query: str) -> str:
        """`query` with the words of the tools in place of those that a slip parts from them."""
        index = self._index
        if index is None:
            return query
        with index.lock:
            return index.lexicon.mended(query[:QUERY_LENGTH])

    def _ranking(
        self, index: Indexed, query: str, k: int, within: Collection[str] | None
    ) -> Ranking:
        allowed = None if within is None else index.allowed(within)
        return rank(index, query[:QUERY_LENGTH], most=k, within=allowed)

    def explain(self, query: str, names: Sequence[str]) -> list[Explanation]:
        """An explanation for each of `names`, in their order, as the index is now."""
        index = self._index
        if index is None:
            return [Explanation(name=name, score=0.0) for name in names]
        with index.lock:
            return explain(index, query[:QUERY_LENGTH], names)
