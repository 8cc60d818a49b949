"""A request is taken apart: its words, and its parts if it asks for several things."""

from deferred_tools.retrievers.clauses import CLAUSES
from deferred_tools.retrievers.request import Request
from deferred_tools.retrievers.text import Analyser

ANALYSER = Analyser()


def test_a_request_for_several_things_has_parts() -> None:
    request = Request.of("Find cheap flights to Rome and book hotel rooms nearby", ANALYSER)
    assert [phrase.stems for phrase in request.clauses] == [
        ("find", "cheap", "flight", "rome"),
        ("book", "hotel", "room", "nearbi"),
    ]
    whole = "find cheap flights to rome book hotel rooms nearby"
    assert request.whole.words == tuple(whole.split())


def test_a_request_for_one_thing_has_no_parts() -> None:
    request = Request.of("find the cheapest flight to Rome", ANALYSER)
    assert request.clauses == ()
    assert request.whole.stems == ("find", "cheapest", "flight", "rome")


def test_the_parts_of_a_request_are_bounded() -> None:
    assert len(Request.of("read big old files. " * 100, ANALYSER).clauses) == CLAUSES
