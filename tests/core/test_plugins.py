"""Plugins of one toolset: asked once or told, each on its own."""

import logging
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from deferred_tools import ToolSpec, ToolTag, hookimpl
from deferred_tools.errors import PluginError
from deferred_tools.plugins import Plugins

SPEC = ToolSpec(source="s", tool="t", aliases=("first",), tags=frozenset({ToolTag.SENSITIVE}))


class Tags:
    def __init__(self, *tags: ToolTag) -> None:
        self.tags = tags

    @hookimpl
    def deferred_tools_tags(self, spec: ToolSpec) -> Iterable[ToolTag]:
        return self.tags


class Aliases:
    def __init__(self, *aliases: str) -> None:
        self.aliases = aliases

    @hookimpl
    def deferred_tools_aliases(self, spec: ToolSpec) -> Iterable[str]:
        yield from self.aliases


class Notes:
    def __init__(self) -> None:
        self.told: list[tuple[str, tuple[str, ...]]] = []

    @hookimpl
    def deferred_tools_searched(self, query: str, found: tuple[str, ...]) -> None:
        self.told.append((query, found))


class Broken:
    """Fails whatever it is asked or told."""

    @hookimpl
    def deferred_tools_sources(self) -> Iterator[Any]:
        yield from [1 // 0]

    @hookimpl
    def deferred_tools_tags(self) -> Iterable[ToolTag]:
        raise LookupError("no tags")

    @hookimpl
    def deferred_tools_searched(self) -> None:
        raise LookupError("no disk")


class Silent:
    """Has every hook and nothing to add."""

    @hookimpl
    def deferred_tools_sources(self) -> None: ...

    @hookimpl
    def deferred_tools_tags(self) -> None: ...

    @hookimpl
    def deferred_tools_aliases(self) -> None: ...


def test_what_plugins_answer_is_in_the_order_of_their_registration() -> None:
    plugins = Plugins([Aliases("a", "b"), Aliases(), Aliases("c")])
    assert plugins.ask("deferred_tools_aliases", spec=SPEC) == [("a", "b"), (), ("c",)]


def test_a_plugin_that_answers_nothing_adds_nothing() -> None:
    plugins = Plugins([Silent()])
    assert plugins.ask("deferred_tools_sources") == []
    assert plugins.decorate(SPEC) is SPEC


def test_a_plugin_that_fails_when_asked_is_named() -> None:
    plugins = Plugins([Tags(), Broken()])
    with pytest.raises(PluginError, match=r"'Broken' failed in deferred_tools_tags: no tags"):
        plugins.decorate(SPEC)


def test_a_plugin_that_fails_while_its_answer_is_read_is_named_too() -> None:
    with pytest.raises(PluginError, match=r"'Broken' failed in deferred_tools_sources"):
        Plugins([Broken()]).ask("deferred_tools_sources")


def test_an_answer_of_the_wrong_kind_is_the_plugins_failure() -> None:
    class Wrong:
        @hookimpl
        def deferred_tools_sources(self) -> int:
            return 5

    with pytest.raises(PluginError, match="'Wrong' failed in deferred_tools_sources"):
        Plugins([Wrong()]).ask("deferred_tools_sources")


def test_an_observer_that_fails_silences_nobody_and_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    first, last = Notes(), Notes()
    plugins = Plugins([first, Broken(), last])
    with caplog.at_level(logging.ERROR):
        plugins.tell("deferred_tools_searched", caller=None, query="q", found=("a",))
    assert first.told == last.told == [("q", ("a",))]
    assert [r.message for r in caplog.records] == [
        "plugin 'Broken' failed in deferred_tools_searched"
    ]


def test_tags_and_aliases_are_added_to_what_a_tool_has() -> None:
    plugins = Plugins([Tags(ToolTag.EGRESS), Aliases("second"), Tags(), Aliases("third")])
    spec = plugins.decorate(SPEC)
    assert spec.tags == {ToolTag.SENSITIVE, ToolTag.EGRESS}
    assert spec.aliases == ("first", "second", "third")


def test_a_spec_that_nobody_adds_to_is_the_same() -> None:
    assert Plugins([Tags(), Aliases(), Notes()]).decorate(SPEC) is SPEC
    assert Plugins().decorate(SPEC) is SPEC


def test_a_hook_that_does_not_exist_is_refused() -> None:
    class Typo:
        @hookimpl
        def deferred_tools_serched(self) -> None: ...

    with pytest.raises(PluginError, match="'Typo' cannot be registered"):
        Plugins([Typo()])


def test_a_hook_that_takes_what_is_not_given_is_refused() -> None:
    class Curious:
        @hookimpl
        def deferred_tools_searched(self, arguments: str) -> None: ...

    with pytest.raises(PluginError, match="'Curious' cannot be registered"):
        Plugins([Curious()])


def test_a_plugin_given_twice_is_refused() -> None:
    notes = Notes()
    with pytest.raises(PluginError, match="'Notes' cannot be registered"):
        Plugins([notes, notes])


def test_plugins_of_two_toolsets_know_nothing_of_each_other() -> None:
    one, two = Notes(), Notes()
    Plugins([one]).tell("deferred_tools_searched", caller=None, query="q", found=())
    Plugins([two])
    assert (len(one.told), len(two.told)) == (1, 0)
