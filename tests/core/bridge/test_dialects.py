"""Streams of each wire's shape become the events that they mean."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from deferred_tools.bridge import DIALECTS, MintedIds, ToolCallAssembler, read_event
from deferred_tools.bridge.dialects import dialect_of

STREAMS = Path(__file__).parent / "streams"


def recorded() -> Iterator[Any]:
    for path in sorted(STREAMS.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            yield pytest.param(path.stem, case, id=f"{path.stem}-{case['case']}")


def events(dialect: str, wire: list[dict[str, Any]]) -> list[dict[str, Any]]:
    assembler = ToolCallAssembler(
        DIALECTS[dialect], may_be_empty=lambda name: name == "now", minted=MintedIds("t")
    )
    reason = None
    found: list[Any] = []
    for event in wire:
        said = read_event(event)
        if said is None:
            continue
        for fragment in said.fragments:
            found += assembler.feed(fragment)
        reason = said.reason or reason
    found += assembler.finish(reason)
    return [{"event": type(it).__name__} | asdict(it) for it in found]


@pytest.mark.parametrize(("dialect", "case"), list(recorded()))
def test_a_recorded_stream_becomes_the_events_beside_it(dialect: str, case: dict[str, Any]) -> None:
    found = events(dialect, case["wire"])
    # Recorded without what is empty.
    assert [
        {key: value for key, value in it.items() if value not in (None, "")} for it in found
    ] == (case["events"])


def test_every_dialect_has_recorded_streams() -> None:
    assert {path.stem for path in STREAMS.glob("*.jsonl")} == set(DIALECTS)


def test_a_class_speaks_the_dialect_of_the_package_that_it_or_a_base_is_of() -> None:
    base = type("Chat", (), {"__module__": "vendor.chat.base"})
    own = type("Mine", (base,), {"__module__": "mine"})
    stranger = type("Other", (), {"__module__": "vendor.chatty"})
    packages = {"vendor.chat": "mistral"}
    assert dialect_of(own, packages) is DIALECTS["mistral"]
    assert dialect_of(stranger, packages) is None
