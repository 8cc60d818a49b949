"""Tools that their own words do not find."""

from deferred_tools.lint.retrieval import check
from deferred_tools.retrievers.bm25 import BM25Retriever
from deferred_tools.spec import ToolSpec

FLEET = tuple(
    ToolSpec(source="cars", tool=f"rent_{kind}", description=f"Rent a {kind}. Rent it by the day.")
    for kind in ("van", "truck", "bus", "cab", "tram", "bike")
)


def test_tools_that_differ_are_found() -> None:
    assert list(check(FLEET, BM25Retriever())) == []


def test_a_tool_whose_words_are_better_said_elsewhere_is_told_with_what_is_found() -> None:
    vague = ToolSpec(source="z", tool="go", description="Rent it by the day")
    (finding,) = check((*FLEET, vague), BM25Retriever(meaning=False))
    assert (finding.rule.code, finding.tool) == ("hard-to-find", "go")
    assert finding.others == tuple(spec.name for spec in FLEET[:3])
    assert finding.problem.startswith("'Rent it by the day' finds 'cars__rent_van', ")


def test_a_tool_that_its_name_does_not_find_either_is_an_error() -> None:
    same = [ToolSpec(source=f"s{n}", tool="rent", description="Rent a car") for n in range(6)]
    (finding,) = check(same, BM25Retriever())
    assert (finding.rule.code, finding.name) == ("not-found", "s5__rent")
    assert finding.problem.endswith("and the tool itself at place 6")


def test_a_tool_without_a_description_is_left_to_others() -> None:
    assert list(check([ToolSpec(source="z", tool="go")], BM25Retriever())) == []
