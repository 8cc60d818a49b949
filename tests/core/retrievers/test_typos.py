"""A slip of the fingers costs little. `benchmarks/search_quality.py --typos` prints how much."""

import re

from benchmarks.support.quality_sets import SHORT, load
from benchmarks.support.quality_typos import LETTERS, mistyped
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.evaluation.data import Query
from deferred_tools.evaluation.run import evaluate
from deferred_tools.retrievers.bm25 import BM25Retriever
from tests.support.shared import shared_folder

DRAWS = 3
"""Slips that are made in each query, one at a time: those of one draw are few."""


def test_a_typo_in_every_short_request_costs_at_most_8_points() -> None:
    tools, asked = load(shared_folder(), SHORT)
    slips = [query for seed in range(DRAWS) for query in mistyped(asked, seed)]
    well, badly = (
        evaluate("bm25", BM25Retriever(), tools, queries).scores.ndcg_10
        for queries in (asked, slips)
    )
    # Measured: 6.9 points, from 76.7 on.
    assert well - badly <= 0.08


@given(st.text("alSz é-", max_size=30), st.integers(0, 9))
def test_a_slip_changes_one_letter_of_one_long_word(text: str, seed: int) -> None:
    (slipped,) = mistyped([Query("q", text, frozenset("x"))], seed)
    words, changed = re.findall("[A-Za-z]+", text), re.findall("[A-Za-z]+", slipped.text)
    different = [(word, other) for word, other in zip(words, changed, strict=True) if word != other]
    assert len(different) == any(len(word) >= LETTERS for word in words)
    for word, other in different:
        assert len(word) >= LETTERS
        assert abs(len(word) - len(other)) <= 1
    assert (slipped,) == mistyped([Query("q", text, frozenset("x"))], seed)
