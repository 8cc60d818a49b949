"""The parts of a request."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.retrievers.clauses import CLAUSES, clauses


@pytest.mark.parametrize(
    ("request_", "parts"),
    [
        ("Open a bug report", []),
        ("send it, please, and thanks", []),
        (
            "Find flights to Rome in May, then book a cheap hotel and also mail my boss the plan",
            ["Find flights to Rome in May", "book a cheap hotel", "mail my boss the plan"],
        ),
        (
            "Resize the image file. Upload new image somewhere!",
            ["Resize the image file.", "Upload new image somewhere!"],
        ),
        (
            "\u7ffb\u8bd1\u8fd9\u4e2a\u6587\u4ef6\u3002\u53d1\u9001\u7535\u5b50\u90ae\u4ef6",
            ["\u7ffb\u8bd1\u8fd9\u4e2a\u6587\u4ef6", "\u53d1\u9001\u7535\u5b50\u90ae\u4ef6"],
        ),
    ],
)
def test_a_request_for_several_things_has_parts(request_: str, parts: list[str]) -> None:
    assert clauses(request_) == parts


@given(st.text())
def test_any_text_has_none_or_several_parts_of_it(text: str) -> None:
    parts = clauses(text)
    assert len(parts) != 1
    assert all(part in text for part in parts)


def test_parts_are_bounded() -> None:
    assert len(clauses("find some nice tool. " * 100)) == CLAUSES
