"""Hooks are empty, documented and named for what they are for."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from deferred_tools import hookspecs

HOOKS = {
    name: hook
    for name, hook in vars(hookspecs).items()
    if name.startswith("deferred_tools_") and inspect.isfunction(hook)
}


@pytest.mark.parametrize("hook", HOOKS.values(), ids=HOOKS)
def test_a_hook_says_whether_it_registers_or_observes(hook: Callable[..., Any]) -> None:
    assert (inspect.getdoc(hook) or "").split()[0] in {"Registers", "Observes"}
    registers = (inspect.getdoc(hook) or "").startswith("Registers")
    assert registers == (inspect.signature(hook).return_annotation is not None)


def test_these_are_the_hooks() -> None:
    assert sorted(HOOKS) == [
        "deferred_tools_aliases",
        "deferred_tools_called",
        "deferred_tools_enabled",
        "deferred_tools_policies",
        "deferred_tools_refused",
        "deferred_tools_retrievers",
        "deferred_tools_searched",
        "deferred_tools_source_changed",
        "deferred_tools_sources",
        "deferred_tools_tags",
    ]
