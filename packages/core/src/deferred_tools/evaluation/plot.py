"""Evaluations as a picture: recall by places, and quality against latency. Pure; SVG alone."""

import math
from collections.abc import Iterator, Sequence
from html import escape

from deferred_tools.evaluation.run import Evaluation
from deferred_tools.spec import one_line

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Told apart by people who do not see all colours, too."""
_WIDTH = 800
_SIDE = 300
"""Pixels of a side of a panel."""
_TOP = 50
_LEFTS = (60, 460)
_LINE = 20
_NAME_LENGTH = 80
_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)


def svg(measured: Sequence[Evaluation]) -> str:
    """A picture of at least one evaluation, as text of an SVG file."""
    legend = _TOP + _SIDE + 60
    height = legend + _LINE * len(measured)
    decades = _decades(measured)
    size = f'viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">',
        f"<title>{measured[0].queries:,} queries</title>",
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
        *_panel(_LEFTS[0], "recall@k by k", [(k / 10, str(k)) for k in (1, 3, 5, 10)]),
        *_panel(
            _LEFTS[1],
            "nDCG@10 by median latency (µs of CPU)",
            [
                (_share(10.0**e, decades), f"{10.0**e:,g}")
                for e in range(decades[0], decades[1] + 1)
            ],
        ),
    ]
    for number, one in enumerate(measured):
        colour = _COLOURS[number % len(_COLOURS)]
        parts += _recall(one, colour)
        parts += _quality(one, colour, decades)
        y = legend + _LINE * number
        parts.append(f'<rect x="{_LEFTS[0]}" y="{y - 10}" width="12" height="12" fill="{colour}"/>')
        parts.append(_text(_LEFTS[0] + 20, y, one_line(one.retriever, _NAME_LENGTH)))
    return "\n".join((*parts, "</svg>\n"))


def _recall(one: Evaluation, colour: str) -> Iterator[str]:
    scores = one.scores
    recalls = ((1, scores.recall_1), (3, scores.recall_3), (5, scores.recall_5))
    places = [_at(_LEFTS[0], k / 10, share) for k, share in (*recalls, (10, scores.recall_10))]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    yield f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>'
    yield from (_dot(place, colour) for place in places)


def _quality(one: Evaluation, colour: str, decades: tuple[int, int]) -> Iterator[str]:
    share = _share(one.latency_us.p50, decades)
    x, low = _at(_LEFTS[1], share, one.ndcg_10_between[0])
    _, high = _at(_LEFTS[1], share, one.ndcg_10_between[1])
    yield f'<path d="M{x:.1f} {low:.1f}V{high:.1f}" stroke="{colour}" stroke-width="2"/>'
    yield _dot(_at(_LEFTS[1], share, one.scores.ndcg_10), colour)


def _decades(measured: Sequence[Evaluation]) -> tuple[int, int]:
    """Powers of ten below and above every median latency."""
    logs = [math.log10(max(one.latency_us.p50, 1.0)) for one in measured]
    low = math.floor(min(logs))
    return low, max(math.ceil(max(logs)), low + 1)


def _share(microseconds: float, decades: tuple[int, int]) -> float:
    low, high = decades
    return (math.log10(max(microseconds, 1.0)) - low) / (high - low)


def _panel(left: int, title: str, ticks: Sequence[tuple[float, str]]) -> Iterator[str]:
    yield _text(left, _TOP - 20, title)
    for share in _QUARTERS:
        x, y = _at(left, 0, share)
        yield f'<path d="M{x} {y}h{_SIDE}" stroke="#ddd"/>'
        yield _text(x - 8, y + 4, f"{share:g}", "end")
    for share, label in ticks:
        x, y = _at(left, share, 0)
        yield f'<path d="M{x:.1f} {y}v-{_SIDE}" stroke="#ddd"/>'
        yield _text(x, y + 20, label, "middle")


def _at(left: int, x: float, y: float) -> tuple[float, float]:
    """Pixels of a place in a panel, each from 0 to 1, from its lower left corner."""
    return left + x * _SIDE, _TOP + (1 - y) * _SIDE


def _dot(place: tuple[float, float], colour: str) -> str:
    return f'<circle cx="{place[0]:.1f}" cy="{place[1]:.1f}" r="4" fill="{colour}"/>'


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#222">{escape(text)}</text>'
