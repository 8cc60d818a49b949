"""Measure a retriever: index once, rank every query, and say how well and at what cost."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass

from deferred_tools.evaluation.cost import bound_tokens
from deferred_tools.evaluation.data import Query
from deferred_tools.evaluation.metrics import DEPTH, Scores, interval
from deferred_tools.retrievers.base import Retriever
from deferred_tools.search_request import DEFAULT_LIMIT
from deferred_tools.spec import ToolSpec


@dataclass(frozen=True, slots=True)
class Latency:
    """Microseconds of processor time that half, and 95 %, of the searches needed at most."""

    p50: float
    p95: float

    @classmethod
    def of(cls, microseconds: Sequence[float]) -> "Latency":
        """The latency of at least one search."""
        ordered = sorted(microseconds)
        p50, p95 = (ordered[math.ceil(share * len(ordered)) - 1] for share in (0.50, 0.95))
        return cls(p50, p95)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """What was measured of one retriever."""

    retriever: str
    queries: int
    index_seconds: float
    """Processor time that indexing took."""
    scores: Scores
    """Means over the queries."""
    ndcg_10_between: tuple[float, float]
    """What other queries of the same kind would give as mean nDCG@10, 95 times of 100."""
    latency_us: Latency
    tokens_per_search: float
    """Estimated tokens of the schemas that a search enables by default, mean over queries."""


def evaluate(
    name: str, retriever: Retriever, tools: Sequence[ToolSpec], queries: Sequence[Query]
) -> Evaluation:
    """Index `tools` in `retriever`, called `name`, and measure it by at least one query."""
    started = time.process_time()
    retriever.index(tools)
    index_seconds = time.process_time() - started
    ranked: list[list[str]] = []
    microseconds: list[float] = []
    for query in queries:
        before = time.process_time_ns()
        hits = retriever.search(query.text, DEPTH)
        microseconds.append((time.process_time_ns() - before) / 1_000)
        ranked.append([hit.name for hit in hits])
    scores = [
        Scores.of(names, query.relevant) for names, query in zip(ranked, queries, strict=True)
    ]
    return Evaluation(
        retriever=name,
        queries=len(queries),
        index_seconds=index_seconds,
        scores=Scores.mean(scores),
        ndcg_10_between=interval([score.ndcg_10 for score in scores]),
        latency_us=Latency.of(microseconds),
        tokens_per_search=_tokens(ranked, tools) / len(queries),
    )


def _tokens(ranked: Sequence[Sequence[str]], tools: Sequence[ToolSpec]) -> int:
    specs = {spec.name: spec for spec in tools}
    enabled = [name for names in ranked for name in names[:DEFAULT_LIMIT]]
    cost = {name: bound_tokens(specs[name]) for name in set(enabled)}
    return sum(cost[name] for name in enabled)
