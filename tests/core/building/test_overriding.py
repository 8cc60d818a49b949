"""Contracts that a server's tool carries out: checked at the start, followed afterwards."""

from collections.abc import Mapping
from typing import Any

import pytest

from deferred_tools import Registry, ToolTag
from deferred_tools.lock import ToolsLock
from deferred_tools.registered import Absence, Route
from deferred_tools.settings import Settings
from deferred_tools.testing.sources import ScriptedTool
from tests.core.building.parts import away, build, own, problems, server

GITHUB = server("github", "create_issue", "list_issues")


def mapped(**override: Any) -> dict[str, Any]:
    """Settings that map the contract `file` to what `override` says."""
    return {
        "contracts": {"file": {}, "other": {"implementation": "json:dumps"}},
        "overrides": {"file": {"server": "github", "tool": "create_issue", **override}},
    }


def absence(registry: Registry, name: str = "file") -> tuple[Absence, str]:
    return registry.absent[name].absence, registry.absent[name].why


def test_a_contract_goes_to_the_tool_that_it_is_mapped_to() -> None:
    registry = build(mapped(), GITHUB)
    entry = registry.tools["file"]
    assert (entry.route, entry.source, entry.spec.source) == (Route.MAPPED, "github", "contracts")
    assert entry.tool is GITHUB.state.tools[0]
    assert registry.names() == (
        "file",
        "other",
        "github__create_issue",
        "github__list_issues",
    )
    assert registry.warnings == ()


def test_an_override_goes_before_the_contracts_own_implementation() -> None:
    settings = mapped()
    settings["contracts"]["file"] = {"implementation": "json:dumps"}
    assert build(settings, GITHUB).route("file") is Route.MAPPED


@pytest.mark.parametrize(
    ("override", "told"),
    [
        (
            {"server": "gitub"},
            "overrides.file.server: the server 'gitub' is not declared; did you mean 'github'?",
        ),
        ({"server": "jira"}, "overrides.file.server: the server 'jira' is not declared"),
        (
            {"server": "functions"},
            (
                "overrides.file.server: 'functions' is not an MCP server, so no contract "
                "can be mapped to it"
            ),
        ),
        (
            {"tool": "create_isue"},
            (
                "overrides.file.tool: the server 'github' does not advertise the tool "
                "'create_isue'; did you mean 'create_issue'?"
            ),
        ),
        (
            {"tool": "github__create_issue"},
            (
                "overrides.file.tool: the server 'github' does not advertise the tool "
                "'github__create_issue'; did you mean 'create_issue'?"
            ),
        ),
        (
            {"args": "nobody"},
            "overrides.file.args: the 'args' expression 'nobody' does not compile: ",
        ),
        (
            {"result": "args.x"},
            "overrides.file.result: the 'result' expression 'args.x' does not compile: ",
        ),
        (
            {"args": "{'a': "},
            "overrides.file.args: the 'args' expression \"{'a': \" does not compile: ",
        ),
    ],
)
def test_an_override_that_does_not_fit_stops_the_start(
    override: Mapping[str, Any], told: str
) -> None:
    (problem,) = problems(mapped(**override), GITHUB, own("clock"))
    assert problem.startswith(told)


def test_what_the_servers_tool_can_do_the_contract_can_do() -> None:
    settings = mapped()
    settings["contracts"]["file"] = {"tags": ["sensitive"]}
    settings["tags"] = {"github__create_issue": ["egress"]}
    assert build(settings, GITHUB).tags_of(["file"]) == {ToolTag.SENSITIVE, ToolTag.EGRESS}


def test_a_tool_that_is_hidden_can_still_carry_out_a_contract_with_all_its_tags() -> None:
    settings = mapped()
    settings["servers"] = {"github": {"deny": ["*"], "namespace": "gh", "tags": ["sensitive"]}}
    settings["tags"] = {"gh__*": ["egress"]}
    registry = build(settings, GITHUB)
    assert registry.names() == ("file", "other")
    assert registry.tags_of(["file"]) == {ToolTag.SENSITIVE, ToolTag.EGRESS}
    assert registry.tools["file"].source == "gh"


def test_a_contract_is_not_mapped_to_a_disabled_tool_but_may_be_to_a_hidden_one() -> None:
    settings = {**mapped(), "disabled": ["github__create_issue"]}
    assert problems(settings, GITHUB) == (
        (
            "overrides.file: it maps to 'github__create_issue', which is disabled; to hide that "
            "tool, deny it"
        ),
    )


# --- servers that come and go


def test_a_contract_waits_for_a_server_that_is_away() -> None:
    before = build(mapped(), away("github"))
    assert absence(before) == (
        Absence.NOT_IMPLEMENTED,
        "its server 'github' cannot be reached (unavailable)",
    )
    assert before.warnings[1] == (
        "overrides.file: 'file' is unavailable: its server 'github' cannot be reached (unavailable)"
    )
    assert before.route("file") is None
    assert before.route("other") is Route.CONTRACT
    after = build(mapped(), GITHUB, previous=before)
    assert (after.route("file"), after.warnings) == (Route.MAPPED, ())


def test_a_contract_stays_mapped_while_its_server_is_briefly_away() -> None:
    before = build(mapped(), GITHUB)
    after = build(mapped(), away("github", *GITHUB.state.tools), previous=before)
    assert after.tools["file"] is before.tools["file"]
    assert not after.available("file")


def test_a_server_that_no_longer_has_the_tool_costs_only_the_contract() -> None:
    before = build(mapped(), GITHUB)
    after = build(mapped(), server("github", "list_issues"), previous=before)
    assert after.names() == ("other", "github__list_issues")
    assert absence(after)[0] is Absence.NOT_IMPLEMENTED
    assert after.warnings == (
        (
            "overrides.file.tool: the server 'github' does not advertise the tool 'create_issue'; "
            "did you mean 'list_issues'?"
        ),
    )


def test_a_changed_tool_of_the_server_makes_another_route_of_the_same_contract() -> None:
    before = build(mapped(), GITHUB)
    changed = server("github", ScriptedTool("create_issue", "Another one."))
    after = build(mapped(), changed, previous=before)
    assert after.tools["file"] is not before.tools["file"]
    assert after.tools["file"].spec == before.tools["file"].spec
    assert after.tools["file"].tool is changed.state.tools[0]


# --- tools that were accepted


def test_a_contract_is_withheld_with_the_tool_that_carries_it_out() -> None:
    registry = Registry.build(Settings.from_dict(mapped()), [GITHUB], lock=ToolsLock({}))
    assert registry.names() == ("other",)
    assert {name: tool.absence for name, tool in registry.absent.items()} == {
        "file": Absence.WITHHELD,
        "github__create_issue": Absence.WITHHELD,
        "github__list_issues": Absence.WITHHELD,
    }
    assert absence(registry)[1].startswith("'github__create_issue': it has not been accepted; ")


def test_all_that_is_wrong_with_one_override_is_told_at_once() -> None:
    override = {"server": "gihub", "args": "{'a': ", "result": "nobody"}
    places = [problem.split(": ")[0] for problem in problems(mapped(**override), GITHUB)]
    assert places == ["overrides.file.args", "overrides.file.result", "overrides.file.server"]
