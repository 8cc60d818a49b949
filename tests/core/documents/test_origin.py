"""An origin says of every place in a document where it stands, as far as known."""

from deferred_tools.documents.origin import Origin

FILE = Origin("tools.yaml", ((("a",), 1), (("a", "b"), 3), (("d", "e"), 5)))


def test_a_place_has_its_own_line_or_that_of_the_key_around_it() -> None:
    assert FILE.where(("a", "b")) == "tools.yaml, line 3: a.b"
    assert FILE.where(("a", "b", 0, "c")) == "tools.yaml, line 3: a.b.0.c"
    assert FILE.where(("a", "x")) == "tools.yaml, line 1: a.x"
    assert FILE.where(("d",)) == "tools.yaml, line 5: d", "written as `d.e`"


def test_what_is_not_known_is_left_out() -> None:
    assert FILE.where(("x",)) == "tools.yaml: x"
    assert FILE.where(()) == "tools.yaml"
    assert Origin().where(("a", 1)) == "a.1"


def test_a_key_that_would_break_a_line_or_not_be_seen_is_quoted() -> None:
    assert Origin().where(("a\nb", "", "c d")) == "'a\\nb'.''.c d"


def test_one_error_tells_all_problems_by_line_with_the_outermost_repeated_keys() -> None:
    keys = ((("b",), 1), (("b", "c"), 2), (("b",), 4), (("b", "c"), 5), (("a",), 6))
    error = Origin("f.json", keys).error([(("a",), "is wrong"), ((), "is odd")])
    assert str(error).splitlines() == [
        "3 problem(s) in f.json:",
        "  - is odd",
        "  - line 4: b: is written more than once, first on line 1; keep one of them",
        "  - line 6: a: is wrong",
    ]
    assert str(Origin(called="it").error([((), "x")])) == "1 problem(s) in it:\n  - x"
