"""How tools and sources are doing, for hosts: whole, plain JSON, and without secrets."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from deferred_tools import SourceStatus
from deferred_tools.registered import SourceView
from tests.core.building.parts import away, build, own, server, workflow


def test_every_tool_is_told_with_its_route_and_every_absent_one_with_its_reason() -> None:
    settings: dict[str, Any] = {
        "contracts": {
            "coded": {"implementation": "json:dumps", "tags": ["sensitive", "egress"]},
            "mapped": {},
            "waiting": {},
            "open": {},
        },
        "overrides": {
            "mapped": {"server": "mail", "tool": "send"},
            "waiting": {"server": "down", "tool": "x"},
        },
        "servers": {"mail": {"namespace": "m", "deny": ["send"]}},
        "disabled": ["m__old"],
    }
    registry = build(
        settings,
        server("mail", "send", "read", "old"),
        away("down", "late"),
        own("clock"),
        workflows=[workflow("tidy", "clock", "coded")],
    )
    told = registry.status()
    assert told["tools"] == len(registry) == 6
    assert told["tiers"] == {"contract": 3, "mcp": 2, "code": 1}
    assert [
        (r["name"], r["route"], r["source"], r["tool"], r["available"], r["tags"])
        for r in told["routes"]
    ] == [
        ("coded", "contract", "contracts", "coded", True, ["egress", "sensitive"]),
        ("mapped", "mapped", "m", "send", True, []),
        ("tidy", "contract", "workflows", "tidy", True, ["egress", "sensitive"]),
        ("m__read", "mcp", "m", "read", True, []),
        ("down__late", "mcp", "down", "late", False, []),
        ("clock", "code", "functions", "clock", True, []),
    ]
    assert told["absent"] == [
        {
            "name": "waiting",
            "absence": "not_implemented",
            "why": "its server 'down' cannot be reached (unavailable)",
        },
        {
            "name": "open",
            "absence": "not_implemented",
            "why": "nothing implements it: map it to a server's tool in `overrides`",
        },
        {"name": "m__old", "absence": "disabled", "why": "it was switched off by the host"},
    ]
    assert told["sources"] == {
        "contracts": {"tier": "contract", "status": "ready", "tools": 0, "reason": ""},
        "workflows": {"tier": "contract", "status": "ready", "tools": 0, "reason": ""},
        "m": {"tier": "mcp", "status": "ready", "tools": 3, "reason": ""},
        "down": {
            "tier": "mcp",
            "status": "unavailable",
            "tools": 1,
            "reason": "it does not answer",
        },
        "functions": {"tier": "code", "status": "ready", "tools": 1, "reason": ""},
    }
    assert told["warnings"] == list(registry.warnings)
    assert json.loads(json.dumps(told)) == told


VIEWS = st.builds(
    lambda tools, status, reason: server("s", *tools, status=status, reason=reason),
    st.lists(st.text(max_size=5), max_size=4),
    st.sampled_from(SourceStatus),
    st.text(max_size=5),
)


@given(VIEWS)
def test_whatever_servers_say_a_status_is_plain_json(view: SourceView) -> None:
    told = build({}, view, own("clock")).status()
    assert json.loads(json.dumps(told)) == told
    assert told["sources"]["s"]["status"] == view.state.status.value
    assert told["tools"] == len(told["routes"]) == sum(told["tiers"].values())


def test_a_status_is_a_copy_that_its_reader_may_change() -> None:
    registry = build({}, away("s"), own("clock"))
    before = registry.status()
    registry.status()["warnings"].clear()
    assert registry.status() == before
