"""The end of an object is found wherever its text is cut."""

import json

from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.bridge.scanner import ObjectScanner

VALUES = st.recursive(
    st.none() | st.text('"\\{}[] aé') | st.integers(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text('"\\{}[]'), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), VALUES), st.text(" \n"), st.text(), st.data())
def test_the_end_of_an_object_is_found_however_it_is_cut(
    value: dict[str, object], before: str, after: str, data: st.DataObject
) -> None:
    whole = before + json.dumps(value)
    text = whole + after
    scanner, taken = ObjectScanner(), 0
    while text:
        length = data.draw(st.integers(1, len(text)))
        taken += scanner.feed(text[:length])
        text = text[length:]
    assert scanner.ended
    assert taken == len(whole)


def test_what_is_no_object_never_ends() -> None:
    scanner = ObjectScanner()
    assert scanner.feed(' "}"') == 4
    assert not scanner.is_nested
    assert not scanner.ended
