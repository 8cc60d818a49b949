"""Names and the limits of providers."""

from deferred_tools.lint.names import check
from deferred_tools.spec import Tier, ToolSpec


def found(tool: str, *, source: str = "s", tier: Tier = Tier.MCP) -> list[tuple[str, str]]:
    spec = ToolSpec(source=source, tool=tool, tier=tier)
    return [(finding.rule.code, finding.problem) for finding in check([spec])]


def test_a_safe_name_is_fine_up_to_64_characters_with_its_server() -> None:
    assert found("list_Issues-2") == []
    assert found("x" * 61) == []
    assert found("x" * 62) == [("cut-name", f"'s__{'x' * 62}' has 65 characters")]


def test_a_code_tool_goes_by_its_own_name() -> None:
    assert found("x" * 64, tier=Tier.CODE) == []


def test_other_characters_are_told_each_once() -> None:
    ((code, problem),) = found("a.b.c d")
    assert code == "refused-name"
    assert problem.startswith("it contains '.' ' ', which")


def test_a_name_that_is_too_long_by_itself_is_refused_and_not_only_cut() -> None:
    ((code, problem),) = found("x" * 65)
    assert (code, problem[:20]) == ("refused-name", "it has 65 characters")


def test_only_the_first_character_that_models_see_must_be_a_letter() -> None:
    assert found("3d_print") == []
    assert "begin with '3'" in found("3d_print", tier=Tier.CODE)[0][1]
    assert "begin with '7'" in found("extract", source="7zip")[0][1]


def test_a_name_of_control_characters_is_told_without_them() -> None:
    assert "\x1b" not in found("\x1b[31m")[0][1]
