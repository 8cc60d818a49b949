"""Postings: exact, whatever came in which order, in both engines."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.retrievers.numpy_postings import NumpyPostings
from deferred_tools.retrievers.postings import (
    MOST_ASKED,
    MOST_NUMBER,
    MOST_WEIGHT,
    Filter,
    Postings,
)
from tests.core.retrievers.slow_postings import (
    ENGINES,
    Documents,
    Make,
    a_term,
    best,
    catalogue,
    every_engine,
    filled,
    score,
)

Change = tuple[str, int, dict[str, int]]

TERMS = st.sampled_from("abcdefgh")
NUMBERS = st.integers(0, 12) | st.integers(0, MOST_NUMBER)
WEIGHTS = st.dictionaries(
    TERMS, st.integers(1, 3) | st.sampled_from((1, 2, MOST_WEIGHT)) | st.integers(1, MOST_WEIGHT)
)
DOCUMENTS = st.dictionaries(NUMBERS, WEIGHTS, max_size=30)
QUERIES = st.dictionaries(TERMS, st.integers(1, 3) | st.integers(1, MOST_ASKED // 8), max_size=8)
CHANGES = st.lists(
    st.tuples(st.just("add"), NUMBERS, WEIGHTS)
    | st.tuples(st.just("remove"), st.integers(0, 12), st.just({}))
    | st.tuples(st.just("merge"), st.just(0), st.just({})),
    max_size=12,
)


def change(
    postings: Postings, documents: Documents, what: str, number: int, weights: dict[str, int]
) -> None:
    """Do the same to both; only what is there is removed."""
    if what == "add":
        postings.add(number, weights)
        documents[number] = weights
    elif what == "remove" and number in documents:
        postings.remove(number)
        del documents[number]
    elif what == "merge" and isinstance(postings, NumpyPostings):
        postings.merge()


@every_engine
@given(documents=DOCUMENTS, changes=CHANGES, terms=QUERIES, k=st.integers(0, 12))
def test_the_best_are_the_best_after_any_changes(
    make: Make,
    documents: Documents,
    changes: list[Change],
    terms: dict[str, int],
    k: int,
) -> None:
    postings = filled(make, documents)
    known = dict(documents)
    for one in changes:
        change(postings, known, *one)
        assert postings.best(terms, k) == best(known, terms, k)
    assert len(postings) == len(known)
    for term in "abcdefgh":
        holders = sum(term in weights for weights in known.values())
        assert postings.holders(term) == holders
        assert (term in postings) == bool(holders)


@every_engine
@given(
    documents=DOCUMENTS,
    changes=CHANGES,
    terms=QUERIES,
    allowed=st.frozensets(NUMBERS),
)
def test_a_filter_stays_right_when_documents_change(
    make: Make,
    documents: Documents,
    changes: list[Change],
    terms: dict[str, int],
    allowed: frozenset[int],
) -> None:
    postings = filled(make, documents)
    known = dict(documents)
    within = Filter(allowed | frozenset(list(documents)[::2]))
    assert postings.best(terms, 4, within) == best(known, terms, 4, within.numbers)
    for one in changes:
        change(postings, known, *one)
        assert postings.best(terms, 4, within) == best(known, terms, 4, within.numbers)


@every_engine
@given(
    documents=DOCUMENTS,
    changes=CHANGES,
    queries=st.lists(QUERIES, max_size=4),
    numbers=st.lists(NUMBERS, max_size=8),
)
def test_scores_are_those_of_the_numbers_asked_for(
    make: Make,
    documents: Documents,
    changes: list[Change],
    queries: list[dict[str, int]],
    numbers: list[int],
) -> None:
    postings = filled(make, documents)
    known = dict(documents)
    for one in changes:
        change(postings, known, *one)
    asked = [*numbers, *documents]
    assert postings.scores(queries, asked) == [
        [score(known.get(number, {}), terms) for number in asked] for terms in queries
    ]


@given(documents=DOCUMENTS, order=st.randoms(use_true_random=False), terms=QUERIES)
def test_the_order_of_adding_says_nothing(
    documents: Documents, order: random.Random, terms: dict[str, int]
) -> None:
    shuffled = list(documents.items())
    order.shuffle(shuffled)
    for make in ENGINES:
        postings = make()
        for number, weights in shuffled:
            postings.add(number, weights)
        assert postings.best(terms, 5) == filled(make, documents).best(terms, 5)


@every_engine
@pytest.mark.parametrize("k", [1, 5, 200])
@pytest.mark.parametrize("most", [2, 99], ids=["many_ties", "few_ties"])
@pytest.mark.parametrize("live", [0, 300])
def test_long_lists_are_searched_exactly(make: Make, k: int, most: int, live: int) -> None:
    documents = catalogue(3_000, most)
    postings = filled(make, documents)
    for number, weights in catalogue(live, most, seed=1).items():
        documents[number * 11] = weights
        postings.add(number * 11, weights)
    dice = random.Random(2)  # noqa: S311  # nothing secret
    few = Filter(frozenset(dice.sample(range(3_300), 40)))
    half = Filter(frozenset(dice.sample(range(3_300), 1_600)))
    for length in (1, 2, 3, 4, 6, 12, 40):
        terms = {a_term(dice): dice.randint(1, most) for _ in range(length)}
        assert postings.best(terms, k) == best(documents, terms, k)
        for within in (few, half):
            assert postings.best(terms, k, within) == best(documents, terms, k, within.numbers)


@every_engine
def test_the_greatest_weights_do_not_overflow(make: Make) -> None:
    terms = [f"t{number}" for number in range(300)]
    postings = filled(make, {7: dict.fromkeys(terms, MOST_WEIGHT), MOST_NUMBER: {"t0": 1}})
    query = dict.fromkeys(terms, MOST_ASKED // 300)
    query["t0"] += MOST_ASKED % 300
    assert postings.best(query, 5) == [(7, MOST_ASKED * MOST_WEIGHT), (MOST_NUMBER, query["t0"])]
    assert postings.scores([query], [7]) == [[MOST_ASKED * MOST_WEIGHT]]


@every_engine
@pytest.mark.parametrize(
    ("number", "weights"),
    [(-1, {}), (MOST_NUMBER + 1, {}), (1, {"a": 0}), (1, {"a": 1, "b": MOST_WEIGHT + 1})],
)
def test_a_document_that_does_not_fit_changes_nothing(
    make: Make, number: int, weights: dict[str, int]
) -> None:
    postings = filled(make, {1: {"a": 5}})
    with pytest.raises(ValueError, match="between"):
        postings.add(number, weights)
    with pytest.raises(ValueError, match="between"):
        postings.add_many([(number, weights)])
    assert postings.best({"a": 1}, 5) == [(1, 5)]
    assert postings.holders("b") == 0


@every_engine
@pytest.mark.parametrize("terms", [{"a": 0}, {"a": 2, "b": -1}, {"a": MOST_ASKED, "b": 1}])
def test_a_query_that_could_overflow_is_refused(make: Make, terms: dict[str, int]) -> None:
    postings = make()
    with pytest.raises(ValueError, match="positive and at most"):
        postings.best(terms, 5)
    with pytest.raises(ValueError, match="positive and at most"):
        postings.scores([{}, terms], [1])


@every_engine
def test_removing_what_is_not_there_is_an_error(make: Make) -> None:
    postings = filled(make, {1: {"a": 1}})
    postings.remove(1)
    for number in (1, 2):
        with pytest.raises(KeyError):
            postings.remove(number)
    assert len(postings) == 0
    assert "a" not in postings


@every_engine
def test_of_one_number_the_last_document_stands(make: Make) -> None:
    postings = make()
    postings.add_many([(2, {"a": 1}), (1, {"a": 9}), (2, {"a": 3, "b": 1})])
    assert postings.best({"a": 1}, 5) == [(1, 9), (2, 3)]
    postings.add_many([(2, {"a": 4})])
    assert postings.best({"a": 1, "b": 1}, 5) == [(1, 9), (2, 4)]
    assert len(postings) == 2


@every_engine
def test_a_few_documents_are_added_to_many(make: Make) -> None:
    documents = catalogue(200)
    postings = filled(make, documents)
    new = {1_000: {"new": 5}, 3: {"new": 7}}
    postings.add_many(new.items())
    assert postings.best({"new": 1}, 5) == [(3, 7), (1_000, 5)]
    assert postings.best({"t1": 1}, 300) == best(documents | new, {"t1": 1}, 300)
