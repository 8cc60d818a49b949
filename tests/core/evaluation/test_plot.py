"""The picture of evaluations."""

from dataclasses import replace
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.evaluation.metrics import Scores
from deferred_tools.evaluation.plot import svg
from deferred_tools.evaluation.run import Evaluation, Latency

ONE = Evaluation(
    retriever="one",
    queries=7,
    index_seconds=0.1,
    scores=Scores.of(["a", "b"], frozenset({"b"})),
    ndcg_10_between=(0.5, 0.75),
    latency_us=Latency(100.0, 900.0),
    tokens_per_search=10,
)
SHAPES = "{http://www.w3.org/2000/svg}"


def picture(*measured: Evaluation) -> ElementTree.Element:
    return ElementTree.fromstring(svg(measured))  # noqa: S314 - our own text


def test_a_retriever_has_a_line_a_place_and_a_name_of_one_colour() -> None:
    drawn = picture(ONE, replace(ONE, retriever="two"))
    lines = drawn.findall(f"{SHAPES}polyline")
    assert len(lines) == 2
    assert lines[0].get("points") == "90.0,350.0 150.0,50.0 210.0,50.0 360.0,50.0"
    assert lines[0].get("stroke") != lines[1].get("stroke")
    assert len(drawn.findall(f"{SHAPES}circle")) == 2 * 5
    assert {"one", "two", "100", "1,000", "recall@k by k"} <= set(drawn.itertext())


def test_a_name_is_data() -> None:
    assert "</svg><b>&" in list(picture(replace(ONE, retriever="</svg><b>&\x00")).itertext())


@given(
    st.lists(st.floats(min_value=0, max_value=1e9), min_size=1, max_size=9),
)
def test_every_place_lies_in_its_panel(latencies: list[float]) -> None:
    drawn = picture(*(replace(ONE, latency_us=Latency(p50, p50)) for p50 in latencies))
    places = [
        (float(dot.get("cx", "")), float(dot.get("cy", "")))
        for dot in drawn.findall(f"{SHAPES}circle")
    ]
    assert all(60 <= x <= 760 and 50 <= y <= 350 for x, y in places)
