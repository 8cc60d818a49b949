"""Errors carry data, name both parties and say the cure."""

import pytest

from deferred_tools.errors import (
    ConfigurationError,
    DeferredToolsError,
    DeveloperError,
    HostError,
    InvalidArgumentsError,
    ModelError,
    PluginError,
    RegistryBuildError,
    SourceUnavailableError,
    ToolNotEnabledError,
    ToolTimeoutError,
    UnknownToolError,
)


@pytest.mark.parametrize(
    ("who", "errors"),
    [
        (DeveloperError, [ConfigurationError, RegistryBuildError, PluginError]),
        (
            ModelError,
            [UnknownToolError, ToolNotEnabledError, InvalidArgumentsError],
        ),
        (HostError, [SourceUnavailableError, ToolTimeoutError]),
    ],
)
def test_each_error_belongs_to_exactly_one_who_must_act(
    who: type[Exception], errors: list[type[Exception]]
) -> None:
    for error in errors:
        assert issubclass(error, DeferredToolsError)
        assert [c for c in (DeveloperError, ModelError, HostError) if issubclass(error, c)] == [who]


def test_a_build_error_lists_every_problem() -> None:
    error = RegistryBuildError(["one is wrong", "two is wrong"])
    assert error.problems == ("one is wrong", "two is wrong")
    assert str(error) == "2 problem(s) in the tool registry:\n  - one is wrong\n  - two is wrong"


def test_a_tool_that_is_not_enabled_comes_with_the_call_that_enables_it() -> None:
    error = ToolNotEnabledError("github__create_issue")
    assert error.name == "github__create_issue"
    assert 'Call `tool_search` with names=["github__create_issue"]' in str(error)


def test_an_unknown_tool_is_told_without_saying_why() -> None:
    text = str(UnknownToolError("secret"))
    assert text == str(UnknownToolError("none")).replace("'none'", "'secret'")
    assert "tool_search" in text


def test_arguments_that_do_not_fit_are_told_with_every_complaint() -> None:
    raised = InvalidArgumentsError("add", ["a: not a number", "b: missing"])
    assert raised.problems == ("a: not a number", "b: missing")
    assert "'add'" in str(raised)
    assert "a: not a number; b: missing" in str(raised)


@pytest.mark.parametrize(
    ("error", "data", "words"),
    [
        (SourceUnavailableError("github", "signed out"), {"source": "github"}, "signed out"),
        (ToolTimeoutError("pay", 2.5), {"seconds": 2.5}, "2.5 s. It may have had an effect"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_what_failed_and_why_are_data_and_text(
    error: Exception, data: dict[str, object], words: str
) -> None:
    assert {key: getattr(error, key) for key in data} == data
    assert words in str(error)
