"""An agent's own tools beside deferred ones: whose name it is."""

import pytest

from deferred_tools import Contract, Settings, Toolset
from deferred_tools.errors import ConfigurationError
from deferred_tools.own_names import own_names
from deferred_tools.testing.sources import ScriptedSource, ScriptedTool, ready


def note() -> str:
    """Take a note."""
    return "noted"


def test_names_that_nobody_else_has_are_the_agents() -> None:
    with Toolset.from_sources([note]) as toolset:
        assert own_names(toolset.registry, ["mine", "other"]) == {"mine", "other"}


@pytest.mark.parametrize("name", ["tool_search", "note", "plan"])
def test_a_name_that_the_application_has_given_twice_is_refused(name: str) -> None:
    plan = Contract(description="Plan.", implementation=ScriptedTool("plan"))
    settings = Settings(contracts={"plan": plan})
    toolset = Toolset.from_sources([note], settings=settings)
    with toolset, pytest.raises(ConfigurationError, match=name):
        own_names(toolset.registry, [name])


def test_two_own_tools_of_one_name_are_refused() -> None:
    with Toolset.from_sources([note]) as toolset, pytest.raises(ConfigurationError, match="two"):
        own_names(toolset.registry, ["mine", "mine"])


def test_a_server_cannot_stop_the_application_by_taking_its_tools_name() -> None:
    with Toolset.from_sources(ScriptedSource("s", ready(ScriptedTool("t")))) as toolset:
        assert own_names(toolset.registry, ["s__t"]) == {"s__t"}
