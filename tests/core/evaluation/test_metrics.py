"""Metrics, against values worked out by hand, and what holds for every ranking."""

import math
from dataclasses import astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.evaluation.metrics import (
    Scores,
    complete,
    hit,
    interval,
    ndcg,
    recall,
    reciprocal_rank,
)

RANKED = ["a", "x", "b", "y", "c"]
RELEVANT = frozenset({"a", "b", "d"})

names = st.sampled_from([f"tool_{number}" for number in range(20)])
rankings = st.lists(names, max_size=15)
answers = st.frozensets(names, min_size=1)


def test_recall_is_the_share_of_the_answers_among_the_first_k() -> None:
    assert [recall(RANKED, RELEVANT, k) for k in (1, 2, 3, 10)] == [1 / 3, 1 / 3, 2 / 3, 2 / 3]


def test_ndcg_counts_a_place_less_the_further_down_it_is() -> None:
    gained = 1 + 1 / math.log2(4)
    best = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    assert ndcg(RANKED, RELEVANT) == pytest.approx(gained / best)
    assert ndcg(RANKED, RELEVANT) == pytest.approx(0.7039, abs=1e-4)


def test_the_reciprocal_rank_is_that_of_the_first_answer() -> None:
    assert reciprocal_rank(RANKED, frozenset({"b", "c"})) == 1 / 3
    assert reciprocal_rank(RANKED, frozenset({"z"})) == 0
    assert reciprocal_rank(RANKED, frozenset({"c"}), 4) == 0


def test_complete_wants_every_answer_and_hit_any() -> None:
    assert [complete(RANKED, frozenset({"a", "b"}), k) for k in (2, 3)] == [0, 1]
    assert [hit(RANKED, frozenset({"x", "d"}), k) for k in (1, 2)] == [0, 1]


def test_a_name_that_comes_twice_counts_once() -> None:
    assert recall(["a", "a", "b"], frozenset({"a", "b"}), 2) == 1
    assert ndcg(["a", "a"], frozenset({"a"})) == 1


def test_the_mean_counts_every_ranking_the_same() -> None:
    all_found = Scores.of(["a"], frozenset({"a"}))
    nothing = Scores.of([], frozenset({"a"}))
    assert set(astuple(Scores.mean([all_found, nothing, nothing, nothing]))) == {0.25}


@given(rankings, answers)
def test_every_score_lies_between_0_and_1(ranked: list[str], relevant: frozenset[str]) -> None:
    assert all(0 <= score <= 1 + 1e-12 for score in astuple(Scores.of(ranked, relevant)))


@given(answers, rankings)
def test_a_perfect_ranking_scores_as_high_as_can_be(
    relevant: frozenset[str], others: list[str]
) -> None:
    scores = Scores.of([*sorted(relevant), *others], relevant)
    assert scores.ndcg_10 == pytest.approx(1)
    assert (scores.mrr, scores.hit_1) == (1, 1)
    assert scores.recall_5 == min(1, 5 / len(relevant))
    assert (scores.complete_5, scores.complete_10) == (len(relevant) <= 5, len(relevant) <= 10)


@given(rankings, answers)
def test_looking_further_down_never_lowers_a_score(
    ranked: list[str], relevant: frozenset[str]
) -> None:
    scores = Scores.of(ranked, relevant)
    assert scores.recall_1 <= scores.recall_3 <= scores.recall_5 <= scores.recall_10
    assert scores.complete_5 <= scores.complete_10
    assert scores.hit_1 <= scores.mrr


def test_an_interval_is_narrower_for_more_values_and_always_the_same() -> None:
    few, many = [0.0, 1.0] * 10, [0.0, 1.0] * 200
    assert interval(few) == interval(few)
    low, high = interval(few)
    assert low < 0.5 < high
    closer = interval(many)
    assert low < closer[0] < 0.5 < closer[1] < high
    assert interval([0.25]) == (0.25, 0.25)
