"""Impacts: fielded BM25 as whole numbers."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.retrievers.impacts import Field, asked, impacts
from deferred_tools.retrievers.postings import MOST_ASKED, MOST_WEIGHT, check_document, check_query

NAME = Field(weight=2.5, slope=0.4, length=3)
TEXT = Field(weight=1.0, slope=0.75, length=10)
WORDS = st.lists(st.sampled_from("abcdef"), max_size=20)


def test_an_impact_is_bm25_of_all_fields_together() -> None:
    name, text = ["send", "mail"], ["send", "a", "mail", "to", "a", "friend"]
    said = 2.5 / (1 - 0.4 + 0.4 * 2 / 3) + 1.0 / (1 - 0.75 + 0.75 * 6 / 10)
    expected = MOST_WEIGHT * said / (1.2 + said)
    assert impacts([(NAME, name), (TEXT, text)], 1.2)["send"] == math.floor(expected)


def test_a_shorter_field_says_more_of_each_word() -> None:
    short, long = impacts([(TEXT, ["a"])], 1.2), impacts([(TEXT, ["a", *"bcdefgh"])], 1.2)
    assert short["a"] > long["a"]


@given(name=WORDS, text=WORDS)
def test_impacts_fit_a_document(name: list[str], text: list[str]) -> None:
    weights = impacts([(NAME, name), (TEXT, text)], 1.2)
    assert weights.keys() == {*name, *text}
    check_document(1, weights)


def test_the_least_word_still_says_something() -> None:
    faint = Field(weight=1e-9, slope=0.0, length=1)
    assert impacts([(faint, ["a"])], 1.2) == {"a": 1}


@given(st.lists(st.floats(1e-6, 1e6), max_size=300))
def test_what_is_asked_fits_a_query(values: list[float]) -> None:
    weights = {f"t{number}": value for number, value in enumerate(values)}
    terms, _ = asked(weights)
    check_query(terms)
    assert terms.keys() <= weights.keys()


def test_scores_are_worth_what_was_asked() -> None:
    weights = {f"t{number}": 0.5 + number for number in range(30)}
    terms, unit = asked(weights)
    score = sum(terms.values()) * MOST_WEIGHT
    assert score * unit == pytest.approx(sum(weights.values()), rel=1e-3)
    assert sum(terms.values()) <= MOST_ASKED


@pytest.mark.parametrize("weights", [{}, {"a": 0.0}])
def test_nothing_asked_is_an_empty_query(weights: dict[str, float]) -> None:
    assert asked(weights) == ({}, 0.0)
