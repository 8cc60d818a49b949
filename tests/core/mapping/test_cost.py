"""What an evaluation will cost: what would run away is refused, what is ordinary is not."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.limits import Limits
from deferred_tools.mapping import CallMapping, MappingError
from deferred_tools.mapping.cost import count_steps
from deferred_tools.mapping.plan import read_plan

LIMITS = Limits()
INPUT = {"l": [[1, 2], [3], ["abc"]], "t": "x" * 200, "o": {"l": [4, 5, 6]}, "n": 7}


def evaluated(expression: str, arguments: dict[str, Any]) -> Any:
    return CallMapping.compile(f"{{'v': {expression}}}", None, LIMITS).map_args(arguments, {})["v"]


def issue(number: int) -> dict[str, Any]:
    others = {f"url{at}": f"https://example.com/{number}/{at}" for at in range(40)}
    labels = [{"name": f"label {at}", "color": "ff0000"} for at in range(3)]
    return {**others, "id": number, "title": "A title", "user": {"login": "ada"}, "labels": labels}


def weight(value: Any) -> int:
    """Scalars, containers and hundreds of characters: roughly what a value takes."""
    if isinstance(value, dict):
        return 1 + sum(map(weight, value.values()))
    if isinstance(value, list):
        return 1 + sum(map(weight, value))
    return 1 + len(value) // 100 if isinstance(value, str) else 1


def expressions(names: tuple[str, ...], depth: int) -> st.SearchStrategy[str]:
    """Expressions over `names` that may gather, double and nest."""
    leaf = st.sampled_from([*names, "[1]", "'a'", "1", "args.l", "args.o.l", "args.t", "args.l[0]"])
    if depth == 0:
        return leaf
    inner = expressions(names, depth - 1)
    bound = f"x{len(names)}"
    body = expressions((*names, bound), depth - 1)
    kinds = st.sampled_from(["map", "map", "filter"])
    loops = st.builds(
        lambda over, kind, body: f"{over}.{kind}({bound}, {'true' if kind == 'filter' else body})",
        inner,
        kinds,
        body,
    )
    return st.one_of(
        leaf,
        loops,
        loops,
        st.builds("({} + {})".format, inner, inner),
        st.builds("[{}, {}]".format, inner, inner),
        st.builds("{{'l': {}, 'k': {}}}".format, inner, inner),
        st.builds("(true ? {} : {})".format, inner, inner),
        st.builds("{}.l".format, inner),
        st.builds("[{}, 1][0]".format, inner),
    )


@pytest.mark.parametrize(
    ("expression", "arguments"),
    [
        ("args.l.map(x, {'id': x})", {"l": list(range(10_000))}),
        ("args.l.all(a, args.l.all(b, args.l.all(c, true)))", {"l": list(range(200))}),
        ("args.l.map(x, args.text)", {"l": list(range(500)), "text": "x" * 1_000_000}),
        ("[args.l]" + ".map(x, x + x)" * 40, {"l": [1]}),
        ("[args.text]" + ".map(x, x + x)" * 40, {"text": "x"}),
        ("[args.l]" + ".map(x, [x, x])" * 40, {"l": [1]}),
        ("[args.l]" + ".map(x, {'a': x, 'b': x})" * 40, {"l": [1]}),
        ("(args.l + args.l).map(a, [a + a].map(b, [b, b, b]))", {"l": [[0] * 500] * 500}),
        ("[1, 1]" + ".filter(x, true).map(x, [x, x][0] + x)" * 30, {}),
        ("args.l.map(x, (true ? [x, x] : []).map(y, args.l))", {"l": list(range(300))}),
        ("args.l.filter(x, x.matches('^a'))", {"l": ["a"] * 5_000}),
    ],
)
def test_what_would_run_away_is_refused_beforehand(
    expression: str, arguments: dict[str, Any]
) -> None:
    with pytest.raises(MappingError, match="might take more than 2000000 steps"):
        evaluated(expression, arguments)


@pytest.mark.parametrize(
    "expression",
    [
        "args.items.map(i, {'id': i.id, 'by': i.user.login})",
        "args.items.filter(i, i.id > 50).map(i, {'id': i.id, 't': i.title})",
        "(has(args.items) ? args.items : []).map(i, i.id)",
        "args['items'].map(i, i.labels.map(l, {'of': i.id, 'is': l.name}))",
        "{'n': size(args.items), 'l': args.items.map(i, 1)}",
    ],
)
def test_a_page_of_a_hundred_objects_is_no_trouble(expression: str) -> None:
    assert evaluated(expression, {"items": [issue(number) for number in range(100)]})


@given(expressions(("args",), 4))
def test_nothing_that_is_made_outweighs_the_count(expression: str) -> None:
    try:
        made = evaluated(expression, INPUT)
    except MappingError:
        return
    steps = count_steps(read_plan(expression, {"args"}), {"args": INPUT}, 10**9)
    assert weight(made) <= steps
