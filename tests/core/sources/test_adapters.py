"""Objects of a framework: its adapter makes tools of them, one or several."""

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import anyio
import pytest

from deferred_tools import FunctionSource, Lazy, Limits, Settings, Toolset
from deferred_tools.errors import ConfigurationError, RegistryBuildError
from deferred_tools.sources import functions
from deferred_tools.sources.base import SourceState
from deferred_tools.sources.functions import as_tool

FRAMEWORK = """
from deferred_tools.errors import ConfigurationError, SourceUnavailableError
from deferred_tools.testing.sources import ScriptedTool


class Kit:
    def __init__(self, *names):
        self.names = names


class One(Kit): ...
class Away(Kit): ...
class Other: ...


def to_tool(item, source):
    if isinstance(item, One):
        return ScriptedTool(item.names[0])
    if isinstance(item, Away):
        raise SourceUnavailableError("Away", "it is switched off")
    if isinstance(item, Kit):
        return (ScriptedTool(name) for name in item.names)
    raise ConfigurationError("Other is not a tool of the framework")
"""


@pytest.fixture
def framework(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A framework that is installed together with its adapter."""
    name = "deferred_tools_test_framework"
    (tmp_path / f"{name}.py").write_text(FRAMEWORK)
    told = tmp_path / f"{name}-1.dist-info"
    told.mkdir()
    (told / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (told / "entry_points.txt").write_text(f"[{functions.ADAPTERS}]\n{name} = {name}:to_tool\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    functions._adapters.cache_clear()  # what is installed is read once
    yield import_module(name)
    functions._adapters.cache_clear()
    sys.modules.pop(name)


def made(*items: object) -> SourceState:
    """What a source of these items reports."""
    states: list[SourceState] = []
    anyio.run(FunctionSource(items).run, states.append, Limits())
    [state] = states
    return state


def clock() -> str:
    """Tell the time."""
    return "noon"


def test_an_object_may_stand_for_one_tool_or_several_in_its_place(framework: ModuleType) -> None:
    kit = framework.Kit("b", "c")
    state = made(framework.One("a"), kit, clock, Lazy(lambda: framework.Kit("d")))
    assert [tool.spec.tool for tool in state.tools] == ["a", "b", "c", "clock", "d"]
    assert state.warnings == ()


def test_an_object_that_holds_nothing_is_no_tool(framework: ModuleType) -> None:
    assert [tool.spec.tool for tool in made(framework.Kit(), clock).tools] == ["clock"]


def test_an_object_that_does_not_give_its_tools_costs_only_itself(framework: ModuleType) -> None:
    with Toolset.from_sources(clock, framework.Away(), framework.One("a")) as toolset:
        assert toolset.registry.names() == ("clock", "a")
        [warning] = toolset.status()["warnings"]
        assert warning == "The tool source 'Away' is unavailable: it is switched off"


def test_an_object_that_is_no_tool_is_refused(framework: ModuleType) -> None:
    with pytest.raises(ConfigurationError, match="Other is not a tool of the framework"):
        made(clock, framework.Other())


def test_where_one_tool_is_asked_for_several_are_refused(framework: ModuleType) -> None:
    assert as_tool(framework.Kit("a"), "s").spec.tool == "a"
    with pytest.raises(ConfigurationError, match="holds 2 tools: give the one that is meant"):
        as_tool(framework.Kit("a", "b"), "s")
    with pytest.raises(ConfigurationError, match="'Away' is unavailable"):
        as_tool(framework.Away(), "s")


def test_a_contract_is_carried_out_by_one_tool(framework: ModuleType) -> None:
    for kit in (framework.Kit("a", "b"), framework.Away()):
        settings = Settings.from_dict({"contracts": {"work": {"implementation": kit}}})
        with pytest.raises(RegistryBuildError, match=r"one that is meant|switched off"):
            Toolset.from_sources(settings=settings).open()
