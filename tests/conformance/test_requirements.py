"""The list of requirements and the tests that prove them are the same, for every adapter."""

import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.conformance.requirements import ADAPTERS, REQUIREMENTS


def proofs() -> Iterator[tuple[str, Any]]:
    """Each id that a test of this folder says it proves, with the test."""
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        for test in vars(import_module(f"tests.conformance.{path.stem}")).values():
            for mark in getattr(test, "pytestmark", ()):
                if mark.name == "requirement":
                    yield mark.args[0], test


def test_ids_and_sentences_are_unique() -> None:
    for said in zip(*REQUIREMENTS, strict=True):
        assert len(set(said)) == len(said)


def test_every_requirement_is_proved_by_one_test_and_no_test_proves_another() -> None:
    assert sorted(found for found, _ in proofs()) == sorted(one.id for one in REQUIREMENTS)


def test_neither_adapter_lacks_one() -> None:
    assert sorted(ADAPTERS) == ["langchain", "llamaindex"]
    without = [
        found for found, test in proofs() if "driver" not in inspect.signature(test).parameters
    ]
    assert not without, "these do not run once with each adapter"
