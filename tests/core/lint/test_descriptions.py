"""Descriptions that say nothing, too much, or the same."""

import pytest

from deferred_tools.lint.descriptions import check
from deferred_tools.spec import ToolSpec


def spec(description: str, tool: str = "t", source: str = "s") -> ToolSpec:
    return ToolSpec(source=source, tool=tool, description=description)


@pytest.mark.parametrize(
    ("description", "codes"),
    [
        ("Send a letter.", []),
        ("指定した場所の天気を調べます", []),
        ("", ["no-description"]),
        (" \n\u200b", ["no-description"]),
        ("---\n***\n", ["only-markup"]),
        ("```\ncurl -X POST\n```", ["only-markup"]),
        ("| a | b |\n|---|---|", ["only-markup"]),
        ("Send. " + "x" * 1_018, []),
        ("Send. " + "x" * 1_019, ["long-description"]),
    ],
)
def test_a_description_says_something_and_not_too_much(description: str, codes: list[str]) -> None:
    assert [finding.rule.code for finding in check([spec(description)])] == codes


def test_tools_of_one_server_that_begin_alike_are_one_finding() -> None:
    alike = [spec("This is our API.\nIt sends.", tool) for tool in ("a", "b", "c")]
    others = [spec("This is our API.", "d", source="other"), spec("Send.", "e")]
    (finding,) = check([*others, *alike])
    assert (finding.rule.code, finding.tool) == ("shared-sentence", "a")
    assert finding.others == ("s__b", "s__c")
    assert finding.problem == "it and 2 others begin 'This is our API.'"


def test_two_that_begin_alike_are_not_many() -> None:
    assert list(check([spec("This is our API.", tool) for tool in ("a", "b")])) == []
