"""A server's list is read whole, tool by tool, within limits, and again when it changes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deferred_tools.sources.base import SourceState

pytestmark = pytest.mark.anyio
Raw = Callable[..., dict[str, Any]]


def names(state: SourceState) -> list[str]:
    return [tool.spec.tool for tool in state.tools]


async def test_pages_are_followed_to_their_end(start: Any, raw: Raw) -> None:
    pages = {
        "": {"tools": [{"name": "a"}], "nextCursor": "1"},
        "1": {"tools": [{"name": "b"}, {"name": "c"}], "nextCursor": "2", "ttlMs": -1},
        "2": {"tools": [{"name": "d"}], "nextCursor": ""},
    }
    state = await start({"s": raw(pages=pages)})["s"].ready()
    assert names(state) == ["a", "b", "c", "d"]
    assert state.warnings == ()


async def test_a_list_without_end_is_cut_and_said(start: Any, raw: Raw) -> None:
    loop = {
        "": {"tools": [{"name": "a"}], "nextCursor": "1"},
        "1": {"tools": [{"name": "b"}], "nextCursor": "1"},
    }
    many = {
        str(n or ""): {"tools": [{"name": f"t{n}"}], "nextCursor": str(n + 1)} for n in range(9)
    }
    broken = {"": {"tools": [{"name": "a"}], "nextCursor": "1"}, "1": {"tools": "none"}}
    wide = [{"name": f"t{n}"} for n in range(9)]
    heavy = [{"name": f"t{n}", "description": "x" * 700} for n in range(9)]
    running = start(
        {
            "loop": raw(pages=loop),
            "many": raw(pages=many),
            "broken": raw(pages=broken),
            "wide": raw(tools=wide),
            "heavy": raw(tools=heavy),
        },
        server_pages=3,
        server_tools=4,
        list_bytes=2_000,
    )
    loop_state, many_state, broken_state, wide_state = [
        await running[name].ready() for name in ("loop", "many", "broken", "wide")
    ]
    assert names(loop_state) == ["a", "b"]
    assert loop_state.warnings == ("server 'loop': its list repeats itself; the rest was left out",)
    assert names(many_state) == ["t0", "t1", "t2"]
    assert "more than 3 pages" in many_state.warnings[0]
    assert names(broken_state) == ["a"]
    assert "page 2 of its list could not be read" in broken_state.warnings[0]
    assert names(wide_state) == ["t0", "t1", "t2", "t3"]
    assert "exceeds `Limits.server_tools`" in wide_state.warnings[0]
    # One message of more than the whole list may have is not even read to its end.
    heavy_state = await running["heavy"].settled()
    assert heavy_state.reason == (
        "the connection was closed; it sent a message of more than 2000 bytes"
    )


async def test_the_bytes_of_a_list_are_counted_over_its_pages(start: Any, raw: Raw) -> None:
    pages = {
        str(n or ""): {
            "tools": [{"name": f"t{n}", "description": "x" * 700}],
            "nextCursor": str(n + 1),
        }
        for n in range(9)
    }
    state = await start({"s": raw(pages=pages)}, list_bytes=2_000)["s"].ready()
    assert names(state) == ["t0", "t1"]
    assert "exceeds `Limits.list_bytes`" in state.warnings[0]


async def test_a_bad_tool_costs_only_itself(start: Any, raw: Raw) -> None:
    good = {"name": "good", "description": "first", "inputSchema": None}
    hostile = {"name": "evil tool</x>\n\u202e", "inputSchema": {"type": "object"}}
    tools = [
        good,
        {"name": "bad", "inputSchema": {"properties": {"a": {"type": "int"}}}},
        {"name": None},
        {"name": "good", "description": "second"},
        hostile,
        {"name": "secret_one"},
        {"name": "half", "description": "\ud83d"},
    ]
    entry = {**raw(tools=tools), "deny": ["secret*"]}
    state = await start({"My Git": entry})["My_Git"].ready()
    assert names(state) == ["good", hostile["name"], "half"]
    assert state.tools[0].spec.description == "first"
    assert state.tools[0].spec.id == "My_Git__good"
    assert state.tools[2].spec.description == "\N{REPLACEMENT CHARACTER}"
    bad, nameless, twice = state.warnings
    assert bad.startswith("server 'My Git', tool 'bad': left out: its input schema cannot be used")
    assert nameless == "server 'My Git', tool number 3: left out: it has no name"
    assert twice == (
        "server 'My Git', tool 'good': left out: another tool of this server has the same name"
    )


async def test_a_server_without_tools_is_ready_and_says_so(start: Any, raw: Raw) -> None:
    running = start({"none": raw(), "no_list": raw(pages={"": {}})})
    state = await running["none"].ready()
    assert (state.tools, state.warnings) == ((), ())
    state = await running["no_list"].settled()
    assert state.reason == "its answer to `tools/list` holds no list of tools"


async def test_a_burst_of_changes_is_read_a_few_times_and_the_last_is_seen(
    start: Any, raw: Raw, tmp_path: Path
) -> None:
    ledger = tmp_path / "ledger"
    script = {"ledger": str(ledger), "calls": {"grow": "grow"}}
    server = start({"a": raw(tools=[{"name": "grow"}], **script)})["a"]
    tools = await server.tools()
    await tools["grow"].call({"times": 100})
    state = await server.until(lambda state: len(state.tools) == 101)
    assert names(state)[-1] == "grown99"
    assert ledger.read_text().count("tools/list") <= 4


async def test_a_changed_list_that_cannot_be_read_leaves_the_old_one(start: Any, raw: Raw) -> None:
    calls = {"spoil": "spoil", "mend": "mend"}
    server = start({"a": raw(tools=[{"name": name} for name in calls], calls=calls)})["a"]
    tools = await server.tools()
    await tools["spoil"].call({})
    state = await server.until(lambda state: bool(state.warnings))
    assert names(state) == ["spoil", "mend"]
    (warning,) = state.warnings
    assert warning.startswith(
        "server 'a': its changed list could not be read, so the old one stands"
    )
    seen = len(server.states)
    await tools["mend"].call({})
    assert (await server.ready(seen)).warnings == ()


async def test_changes_are_seen_over_the_new_protocol(start: Any, sdk: dict[str, Any]) -> None:
    server = start({"a": sdk})["a"]
    tools = await server.tools()
    assert len(tools) == 7
    await tools["add_tool"].call({"number": 1})
    state = await server.until(lambda state: len(state.tools) == 8)
    assert "new0" in names(state)
    # The tool that was held before the change still works.
    assert (await tools["sleep"].call({"number": 0})).text == "done"
