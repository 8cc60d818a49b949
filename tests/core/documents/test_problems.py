"""Whatever does not fit a model is told in our words, with its place and never with its value."""

from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool

from deferred_tools.documents.origin import Origin
from deferred_tools.documents.problems import nearest_key, validated
from deferred_tools.errors import ConfigurationError
from deferred_tools.spec import ToolTag

CANARY = "canary-4f1c-secret"


def refuse(value: str) -> str:
    raise ValueError("must be something else; think again")


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Leaf(Strict):
    size: StrictBool | None
    name: Annotated[str, Field(pattern="^[a-z]+$")] = "x"


class Tree(Strict):
    leaf: Leaf | None = None
    many: tuple[Leaf, ...] | None = None
    named: dict[Annotated[str, Field(min_length=1)], list[Annotated[Leaf, "note"]]] = {}
    tag: ToolTag = ToolTag.EGRESS
    ratio: Annotated[float, Field(strict=True, gt=0)] = 1
    never: Annotated[str, AfterValidator(refuse)] | None = None
    path: Path = Path()
    anything: Any = None
    either: StrictBool | list[str] = []


def problems(document: object) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        validated(Tree, document, Origin())
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__, "which would tell the values"
    first, *rest = str(caught.value).splitlines()
    assert first == f"{len(rest)} problem(s) in the settings:"
    return [line.removeprefix("  - ") for line in rest]


def test_what_fits_is_the_model() -> None:
    document = MappingProxyType(
        {"leaf": {"size": True}, "many": [{"size": True}], "anything": refuse}
    )
    tree = validated(Tree, document, Origin())
    assert tree == Tree(leaf=Leaf(size=True), many=(Leaf(size=True),), anything=refuse)


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ([], "must be an object, not an array"),
        (None, "must be an object, not null"),
        ({1: 2}, "1: its key must be a string"),
        ({"leef": {}}, "leef: unknown key; did you mean 'leaf'?"),
        ({"leaf": {"syze": 1, "size": True}}, "leaf.syze: unknown key; did you mean 'size'?"),
        ({"leaf": {"leaf": 1, "size": True}}, "leaf.leaf: unknown key; known are 'size', 'name'"),
        (
            {"many": [{"size": True}, {"size": True, "siz": 2}]},
            "many.1.siz: unknown key; did you mean 'size'?",
        ),
        (
            {"named": {"size": [{"size": True, "nam": 2}]}},
            "named.size.0.nam: unknown key; did you mean 'name'?",
        ),
        ({"leaf": {}}, "leaf.size: is required; add it"),
        ({"leaf": {"size": True, "name": "A"}}, "leaf.name: must be a name, 'prefix*' or '*'"),
        ({"leaf": {"size": CANARY}}, "leaf.size: must be true or false, not a string"),
        ({"many": {"size": True}}, "many: must be an array, not an object"),
        ({"many": [None]}, "many.0: must be an object, not null"),
        ({"named": {"": []}}, "named.'': its key must not be empty"),
        ({"named": {1: []}}, "named.1: its key must be a string, not a number"),
        ({"named": {"a": {"b": 1}}}, "named.a: must be an array, not an object"),
        ({"tag": CANARY}, "tag: must be one of 'untrusted_input', 'sensitive' or 'egress'"),
        ({"ratio": "1"}, "ratio: must be a number, not a string"),
        ({"ratio": 0}, "ratio: must be greater than 0"),
        ({"never": CANARY}, "never: must be something else; think again"),
        ({"path": 1}, "path: must be a string, not a number"),
        ({"path": refuse}, "path: must be a string, not function"),
        ({"named": {"\ud800": []}}, "named: its key holds half a character; remove it"),
    ],
)
def test_a_problem_is_told_with_its_place_and_the_cure(document: object, told: str) -> None:
    assert problems(document) == [told]


def test_every_alternative_of_a_value_is_told_at_its_place() -> None:
    assert problems({"either": CANARY}) == [
        "either: must be true or false, not a string",
        "either: must be an array, not a string",
    ]


def test_all_problems_and_repeated_keys_are_told_at_once() -> None:
    keys = ((("leaf",), 1), (("leaf", "size"), 2), (("tag",), 3), (("leaf", "size"), 4))
    origin = Origin("t.json", keys)
    with pytest.raises(ConfigurationError) as caught:
        validated(Tree, {"leaf": {"size": True}, "tag": 1}, origin)
    twice = "leaf.size: is written more than once, first on line 2; keep one of them"
    assert str(caught.value).splitlines() == [
        "2 problem(s) in t.json:",
        "  - line 3: tag: must be one of 'untrusted_input', 'sensitive' or 'egress'",
        f"  - line 4: {twice}",
    ]
    with pytest.raises(ConfigurationError) as caught:
        validated(Tree, {"leaf": {"size": True}}, origin)
    assert str(caught.value) == f"1 problem(s) in t.json:\n  - line 4: {twice}"


def test_a_key_that_is_near_to_none_has_no_suggestion() -> None:
    assert nearest_key("zzz", {"size": True}) == ""
