"""Settings that do not fit what there is: all of it is told at once, with its place."""

from pathlib import Path
from typing import Any

import pytest

from deferred_tools import Registry, SourceStatus
from deferred_tools.errors import RegistryBuildError
from deferred_tools.settings import Settings
from tests.core.building.parts import away, build, own, problems, server, workflow

GITHUB = server("github", "create_issue", "list_issues")
CLOCK = own("clock")
MAIL: dict[str, Any] = {"implementation": "json:dumps"}


def test_everything_that_should_stop_the_start_is_told_at_once() -> None:
    settings = {
        "contracts": {
            "a": {"input": {"type": "int"}},
            "b": {"implementation": "no_such_module:x"},
            "c": {},
            "e": {},
            "tool_search": {},
            "d e": {},
        },
        "overrides": {
            "a": {"server": "gitlab", "tool": "x"},
            "b": {"server": "github", "tool": "create_isue"},
            "c": {"server": "github", "tool": "list_issues", "args": "args +"},
            "clock": {"server": "github", "tool": "list_issues"},
            "clok": {"server": "github", "tool": "list_issues"},
            "e": {"server": "github", "tool": "list_issues"},
        },
        "disabled": ["e", "clocks"],
        "servers": {"gihub": {}, "github": {"allow": ["x*"], "deny": ["x*"]}},
        "grants": [{"tools": ["*"], "kinds": ["anonymous"]}, {"tools": ["e"]}],
    }
    told = problems(settings, GITHUB, CLOCK, workflows=[workflow("w", "w"), workflow("v", "none")])
    assert [text.partition(": ")[0] for text in told] == [
        "contracts.b.implementation",
        "contracts.a",
        "the workflow 'w' uses itself, at once or through others",
        "no model could call 'd e'",
        "a tool is named 'tool_search', which is the search tool's own name",
        "servers.gihub",
        "servers.github",
        "overrides.clock",
        "overrides.clok",
        "disabled.0",
        "disabled.1",
        "grants.0",
        "grants.1.tools",
        "overrides.a.server",
        "overrides.b.tool",
        "overrides.c.args",
        "the workflow 'v' is unavailable",
    ]


def test_one_error_lists_all_problems_for_people() -> None:
    with pytest.raises(RegistryBuildError) as raised:
        build({"disabled": ["x"], "servers": {"y": {}}}, CLOCK)
    assert str(raised.value) == (
        "2 problem(s) in the tool registry:\n"
        "  - servers.y: no server of this name is declared\n"
        "  - disabled.0: there is no tool 'x' to disable"
    )


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (
            {"servers": {"gitub": {}}},
            "servers.gitub: no server of this name is declared; did you mean 'github'?",
        ),
        (
            {"servers": {"github": {"allow": ["a*"], "deny": ["a*"]}}},
            "servers.github: 'a*' is both allowed and denied",
        ),
        (
            {"contracts": {"mail": MAIL}, "overrides": {"mial": {"server": "s", "tool": "t"}}},
            "overrides.mial: there is no contract of this name; did you mean 'mail'?",
        ),
        (
            {"overrides": {"clock": {"server": "s", "tool": "t"}}},
            "overrides.clock: this tool is not a contract, and only contracts can be overridden",
        ),
        (
            {"overrides": {"github__create_issue": {"server": "s", "tool": "t"}}},
            ("overrides.github__create_issue: this tool is not a contract, and only contracts can "
            "be overridden"),
        ),
        ({"disabled": ["clok"]}, ("disabled.0: there is no tool 'clok' to disable; did you mean "
         "'clock'?")),
        (
            {"grants": [{"tools": ["*"], "kinds": ["root", "anonymous"]}]},
            "grants.0: anonymous callers cannot be granted anything",
        ),
        (
            {"grants": [{"tools": ["*"], "kinds": ["root"], "roles": ["ops"]}]},
            "grants.0: only principals have roles, and it is not for them",
        ),
        (
            {"disabled": ["clock"], "grants": [{"tools": ["clock"]}]},
            "grants.0.tools: 'clock' is both granted and disabled",
        ),
        (
            {"servers": {"github": {"namespace": "functions"}}},
            "two sources share the namespace 'functions': give one another name",
        ),
    ],
)  # fmt: skip
def test_a_contradiction_stops_the_start(settings: dict[str, Any], told: str) -> None:
    assert problems(settings, GITHUB, CLOCK) == (told,)


@pytest.mark.parametrize("given", ["mail", "contracts__mail"])
def test_a_contract_is_not_both_disabled_and_overridden_by_whichever_name(given: str) -> None:
    settings = {
        "contracts": {"mail": {}},
        "overrides": {"mail": {"server": "github", "tool": "create_issue"}},
        "disabled": [given],
    }
    assert problems(settings, GITHUB) == (f"disabled.0: {given!r} is both disabled and overridden",)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (
            {"grants": [{"tools": ["github__create_isue"]}]},
            (
                "grants.0.tools: 'github__create_isue' fits no tool; did you mean "
                "'github__create_issue'?"
            ),
        ),
        ({"grants": [{"tools": ["gitlab__*"]}]}, "grants.0.tools: 'gitlab__*' fits no tool"),
        ({"tags": {"clocks": ["egress"]}}, "tags.clocks: fits no tool; did you mean 'clock'?"),
        (
            {"agents": {"writer": {"code": ["clok"]}}},
            "agents.writer.code: 'clok' fits no tool; did you mean 'clock'?",
        ),
        (
            {"servers": {"github": {"deny": ["list_isues"]}}},
            "servers.github.deny: 'list_isues' fits none of its tools; did you mean 'list_issues'?",
        ),
        (
            {"contracts": {"mail": {}}},
            "contracts.mail: nothing implements it: map it to a server's tool in `overrides`",
        ),
    ],
)
def test_what_is_most_likely_misspelt_is_a_warning(settings: dict[str, Any], told: str) -> None:
    assert build(settings, GITHUB, CLOCK).warnings == (told,)


def test_a_pattern_for_everything_may_fit_nothing() -> None:
    settings = {
        "grants": [{"tools": ["*"]}],
        "tags": {"*": ["egress"]},
        "agents": {"a": {"mcp": ["*"]}},
        "servers": {"github": {"allow": ["*"]}},
    }
    # Only of a tag that fits nothing nothing else could be meant.
    assert build(settings, server("github")).warnings == ("tags.*: fits no tool",)


def test_a_problem_has_its_line_when_the_settings_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "tools.yaml"
    file.write_text(
        "overrides:\n  clock: {server: s, tool: t}\nservers:\n  gitub:\n    required: true\n"
    )
    with pytest.raises(RegistryBuildError) as raised:
        Registry.build(Settings.from_file(file), [GITHUB, CLOCK])
    servers, overrides = raised.value.problems
    assert servers.startswith(f"{file}, line 4: servers.gitub: no server")
    assert overrides.startswith(f"{file}, line 2: overrides.clock: this tool is not a contract")


# --- servers that cannot be reached

DOWN = away("github")
REQUIRED = (
    "the server 'github' is required and is unavailable (it does not answer): see to it, or let "
    "the start go on without it"
)


def test_by_default_the_start_goes_on_without_a_server_and_says_so() -> None:
    assert build({}, DOWN, CLOCK).warnings == ("github: unavailable: it does not answer",)


@pytest.mark.parametrize(
    "settings", [{"unreachable": "fail"}, {"servers": {"github": {"required": True}}}], ids=str
)
def test_a_start_that_needs_a_server_fails_without_it(settings: dict[str, Any]) -> None:
    assert problems(settings, DOWN, CLOCK) == (REQUIRED,)
    assert build(settings, GITHUB, CLOCK).warnings == ()


def test_only_the_required_server_must_be_there() -> None:
    settings = {"servers": {"github": {"required": True}}}
    assert build(settings, GITHUB, away("gitlab")).warnings == (
        "gitlab: unavailable: it does not answer",
    )


@pytest.mark.parametrize("status", [SourceStatus.CONNECTING, SourceStatus.AUTH_REQUIRED])
def test_a_server_that_is_not_ready_for_whatever_reason_is_not_there(status: SourceStatus) -> None:
    (told,) = problems({"unreachable": "fail"}, server("github", status=status))
    assert told.startswith(f"the server 'github' is required and is {status.value}: see to it")


def test_a_server_that_its_own_configuration_switches_off_is_not_missed_unless_required() -> None:
    off = server("github", status=SourceStatus.DISABLED)
    assert build({"unreachable": "fail"}, off).warnings == ()
    assert problems({"servers": {"github": {"required": True}}}, off)


def test_a_required_server_that_leaves_later_costs_only_itself() -> None:
    settings = {"unreachable": "fail"}
    before = build(settings, GITHUB, CLOCK)
    after = build(settings, DOWN, CLOCK, previous=before)
    assert after.names() == ("clock",)
    assert REQUIRED in after.warnings


# --- what may come later


def test_a_tool_of_a_server_that_is_away_may_be_disabled_beforehand() -> None:
    settings = {"disabled": ["github__create_issue"]}
    before = build(settings, DOWN)
    assert before.warnings[-1] == "disabled.0: 'github__create_issue' is not there at present"
    after = build(settings, GITHUB, previous=before)
    assert after.names() == ("github__list_issues",)
    assert set(after.absent) == {"github__create_issue"}


def test_a_tool_of_a_server_that_is_away_is_known_by_its_namespace() -> None:
    settings = {"servers": {"github": {"namespace": "gh"}}, "disabled": ["gh__create_issue"]}
    before = build(settings, DOWN)
    assert set(build(settings, GITHUB, previous=before).absent) == {"gh__create_issue"}
    assert problems({**settings, "disabled": ["github__create_issue"]}, DOWN)


def test_patterns_are_not_doubted_for_a_server_that_is_away() -> None:
    settings = {
        "tags": {"github__*": ["egress"]},
        "grants": [{"tools": ["github__create_issue", "githb__*"]}],
        "agents": {"writer": {"mcp": ["github__list_*"]}},
    }
    assert build(settings, DOWN).warnings == (
        "github: unavailable: it does not answer",
        "grants.0.tools: 'githb__*' fits no tool",
    )


def test_a_disabled_tool_that_goes_costs_nothing() -> None:
    settings = {"disabled": ["github__create_issue"]}
    before = build(settings, GITHUB)
    after = build(settings, server("github", "list_issues"), previous=before)
    assert after.names() == ("github__list_issues",)
    assert after.warnings == (
        (
            "disabled.0: there is no tool 'github__create_issue' to disable; did you mean "
            "'github__list_issues'?"
        ),
    )


def test_a_contradiction_that_shows_only_later_costs_the_tool_concerned() -> None:
    granted = {
        "disabled": ["github__create_issue"],
        "grants": [{"tools": ["github__create_issue"]}],
    }
    mapped = {
        "disabled": ["github__create_issue"],
        "contracts": {"file": {}},
        "overrides": {"file": {"server": "github", "tool": "create_issue"}},
    }
    for settings in (granted, mapped):
        after = build(settings, GITHUB, previous=build(settings, DOWN))
        assert after.names() == ("github__list_issues",)
        assert "disabled" in after.warnings[0]
        assert problems(settings, GITHUB)
