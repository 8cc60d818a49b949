"""Level 1: every tool as a name and one line, in order. Lazy: nothing is loaded before a query.

Knows specs and a retriever; not who asks, nor what a conversation has enabled.
"""

import hashlib
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from typing import Self

from deferred_tools.limits import Limits
from deferred_tools.prompt import CountTokens, estimate_tokens, render
from deferred_tools.retrievers.base import Retriever
from deferred_tools.retrievers.keyword import KeywordRetriever
from deferred_tools.spec import ToolSpec, ToolSummary
from deferred_tools.summaries import summaries


class ToolCatalog:
    """An ordered catalogue over `load`, which is called at the first query and at `reload`.

    What `load` raises goes through, and the next query calls it again. Work that holds the
    result of `all` keeps its snapshot whatever is reloaded meanwhile.
    """

    def __init__(
        self,
        load: Callable[[], Iterable[ToolSpec]],
        *,
        retriever: Callable[[], Retriever] = KeywordRetriever,
        limits: Limits | None = None,
        count_tokens: CountTokens = estimate_tokens,
    ) -> None:
        self._load = load
        self._retriever = retriever
        self._limits = limits or Limits()
        self._count_tokens = count_tokens
        self._contents: _Contents | None = None

    def all(self) -> tuple[ToolSummary, ...]:
        """Every tool, in registration order."""
        return self._loaded().summaries

    def subset(self, names: Iterable[str]) -> tuple[ToolSummary, ...]:
        """Those of `names` that exist, in catalogue order; others are left out silently."""
        wanted = set(names)
        return tuple(s for s in self.all() if s.name in wanted)

    def search(
        self, query: str, within: Collection[str] | None = None, *, limit: int | None = None
    ) -> tuple[ToolSummary, ...]:
        """The tools that match `query`, best first, at most `limit`; () for an empty query."""
        contents = self._loaded()
        most = len(contents.summaries) if limit is None else limit
        hits = contents.ranker.search(query, most, within) if most > 0 else ()
        return tuple(contents.by_name[hit.name] for hit in hits)

    def reload(self) -> Self:
        """See tools that are new since the last load."""
        self._contents = self._read()
        return self

    def format_for_prompt(self, entries: Sequence[ToolSummary] | None = None) -> str:
        """The `<available_tools>` block for `entries` (all by default), within the budget."""
        shown = self.all() if entries is None else entries
        return render(shown, budget=self._limits.prompt_tokens, count_tokens=self._count_tokens)

    @property
    def fingerprint(self) -> str:
        """16 hex digits of what `all` shows: equal catalogues have equal fingerprints."""
        told = "\0".join(f"{s.name}\0{s.description}\0{s.source}" for s in self.all())
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def _loaded(self) -> "_Contents":
        contents = self._contents
        if contents is None:
            contents = self._contents = self._read()
        return contents

    def _read(self) -> "_Contents":
        return _Contents(tuple(self._load()), self._retriever, self._limits)


class _Contents:
    """One load: replaced as a whole, so that readers never see half of it."""

    def __init__(
        self, specs: Sequence[ToolSpec], retriever: Callable[[], Retriever], limits: Limits
    ) -> None:
        self._specs = specs
        self._retriever = retriever
        self.summaries = summaries(specs, limits)
        self.by_name = {summary.name: summary for summary in self.summaries}

    @cached_property
    def ranker(self) -> Retriever:
        ranker = self._retriever()
        ranker.index(self._specs)
        return ranker
