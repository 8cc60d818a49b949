"""Patterns that are accepted take a bounded time and mean what they mean elsewhere."""

import re
import time
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.retrievers.pattern import UnsafeError, compile_safe

ATOMS = st.sampled_from(["a", "b", ".", r"\w", "[ab]", "[^a]", r"\b", "^", "$", r"\."])
COUNTS = st.sampled_from(["", "", "?", "*", "+", "{2}", "{1,2}", "{2,}", "+?"])
PATTERNS = st.recursive(
    st.builds(str.__add__, ATOMS, COUNTS),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=4).map("".join)
        | st.builds("({}|{})".format, inner, inner)
        | st.builds("(?:{})?".format, inner)
        | st.builds("{}.*{}".format, inner, inner)
    ),
    max_leaves=8,
)


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+$",
        "(a|a)*b",
        "(a?){20}",
        "(?=a)b",
        "(?<!a)b",
        r"(a)\1",
        "(?P<x>a)",
        "[z-a]",
        "[[a]",
        "[a--b]",
        "a**",
        "a{3,1}",
        "a{99}",
        r"\w+\w+x",
        "^*",
        "a" * 201,
        "(a|b)" * 6,
        "(",
        ")",
        "a)",
        "*a",
        "\\",
        "[",
    ],
)
def test_a_pattern_without_a_bound_on_its_time_is_refused(pattern: str) -> None:
    with pytest.raises(UnsafeError):
        compile_safe(pattern)


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        (r"a\w+.*b", "axxb", True),
        ("a.*a.*b", "a b", False),
        ("a.*b$", "abb", True),
        ("a.+b", "ab", False),
        ("a.+b", "axb", True),
        ("(ab|a)c", "abc", True),
        ("(a|ab)c", "abc", True),
        ("x(a.*b|c)y", "xa__by", True),
        (r"\d{2,4}", "1", False),
        (r"\d{2,}", "123", True),
        (r"a\.b", "axb", False),
        ("^b", "a\nb", True),
        ("[^a]b", "ab", False),
        ("colou?r", "color", True),
    ],
)
def test_a_pattern_means_what_it_means_elsewhere(pattern: str, text: str, fits: bool) -> None:
    assert bool(compile_safe(pattern).search(text)) is fits


@given(PATTERNS, st.lists(st.text("aB_ .\n", max_size=15), min_size=5, max_size=5))
def test_an_accepted_pattern_finds_what_the_standard_library_finds(
    pattern: str, texts: list[str]
) -> None:
    try:
        safe = compile_safe(pattern)
    except UnsafeError:
        return
    plain = re.compile(pattern, re.IGNORECASE | re.MULTILINE | re.DOTALL)
    assert [bool(safe.search(text)) for text in texts] == [
        bool(plain.search(text)) for text in texts
    ]


@given(st.text("ab.*+?|()[]{}^$\\-,2d", max_size=30))
def test_any_text_is_refused_or_compiles_and_takes_bounded_time(pattern: str) -> None:
    started = time.process_time()
    with suppress(UnsafeError):
        compile_safe(pattern).search("a" * 500)
    assert time.process_time() - started < 1
