"""The small model in the package: what is alike in meaning is near."""

from collections import Counter

import pytest

from deferred_tools.retrievers.meaning import Meaning, Vector, likeness, read_meaning
from deferred_tools.retrievers.text import Analyser

ANALYSER = Analyser()
MEANING = read_meaning()


def vector(text: str) -> Vector:
    found = MEANING.vector(Counter(ANALYSER.stems(text)))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "near", "far"),
    [
        ("send an email", "write a message", "delete a database table"),
        ("weather tomorrow", "temperature forecast", "list pull requests"),
        ("customer invoice", "billing payment", "resize an image"),
        ("kubernetes pod", "container cluster", "translate a sentence"),
    ],
)
def test_a_paraphrase_is_nearer_than_something_else(text: str, near: str, far: str) -> None:
    assert likeness(vector(text), vector(near)) > likeness(vector(text), vector(far)) + 0.2


def test_a_text_is_like_itself_whatever_its_order_and_length() -> None:
    assert likeness(vector("send mail"), vector("mail send send mail")) == pytest.approx(
        1, abs=0.01
    )


def test_unknown_words_have_no_direction_and_take_none_from_others() -> None:
    assert MEANING.vector(Counter(["zzqxvlorp"])) is None
    assert MEANING.vector(Counter()) is None
    assert MEANING.vector(Counter(["mail", "zzqxvlorp"])) == MEANING.vector(Counter(["mail"]))


def test_names_made_of_numbers_have_no_direction() -> None:
    assert all(MEANING.vector(Counter([stem])) is None for stem in ("t7", "42", "v2", "k8s1"))


def test_sums_are_exact_for_any_number_of_words() -> None:
    meaning = Meaning(["up", "down"], bytes([255, 1, 1, 255]), 2)
    assert meaning.vector(Counter(up=1)) == Vector(*(meaning.vector(Counter(up=10_000)) or ()))
    up, down = meaning.vector(Counter(up=3)), meaning.vector(Counter(down=5))
    assert up is not None
    assert down is not None
    assert likeness(up, down) == pytest.approx(-1)
    assert meaning.vector(Counter(up=2, down=1)) == up
