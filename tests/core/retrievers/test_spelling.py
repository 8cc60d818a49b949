"""Unknown words are taken for known ones only where they are close."""

import time

import pytest

from deferred_tools.retrievers.spelling import Spelling

SPELLING = Spelling(
    ["calendar", "issue", "invoic", "list", "post", "repositori", "postgresql", "法令"]
)


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("calender", "calendar"),
        ("calendarr", "calendar"),
        ("caledar", "calendar"),
        ("claendar", "calendar"),
        ("isuse", "issue"),
        ("isxue", "issue"),
        ("lsit", "list"),
        ("postgres", "postgresql"),
        ("法", "法令"),
    ],
)
def test_a_slip_of_the_finger_is_understood(word: str, meant: str) -> None:
    assert [term for term, _ in SPELLING.close(word)][:1] == [meant]


@pytest.mark.parametrize("word", ["x", "cost", "lost", "lisp", "zzqx", "vlorp", "法律", "é"])
def test_another_word_is_left_alone(word: str) -> None:
    assert SPELLING.close(word) == ()


def test_a_slip_is_closer_than_a_resemblance_and_nothing_is_equal() -> None:
    likeness = dict(Spelling(["invoices", "invoicing"]).close("invoicess"))
    assert likeness["invoices"] > likeness.get("invoicing", 0)
    assert all(0 < value < 1 for value in likeness.values())


def test_a_guess_among_many_words_takes_milliseconds() -> None:
    many = Spelling(f"con{number:05}ing" for number in range(20_000))
    started = time.process_time()
    many.close("conxyzing")
    assert time.process_time() - started < 2
