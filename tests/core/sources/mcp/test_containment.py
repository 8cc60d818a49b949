"""What goes into a server, what comes out of it, and that nothing of it stays."""

import asyncio
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.anyio
CANARY = "canary-4f1c-secret"
Raw = Callable[..., dict[str, Any]]


async def test_only_what_is_declared_reaches_the_server(
    start: Any, raw: Raw, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DT_UNDECLARED", CANARY)
    monkeypatch.setenv("DT_TOKEN", "declared")
    entry = raw(tools=[{"name": "env"}], calls={"env": "environment"})
    entry["env"] = {"TOKEN": "${DT_TOKEN}"}
    tools = await start({"a": entry})["a"].tools()
    seen = (await tools["env"].call({})).structured
    assert ("TOKEN", "declared") in seen.items()
    assert not {"DT_UNDECLARED", "DT_TOKEN"} & set(seen)
    assert "PATH" in seen


async def test_a_secret_is_shown_nowhere(
    start: Any,
    raw: Raw,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("DT_TOKEN", CANARY)
    caplog.set_level(logging.DEBUG)
    env = {"TOKEN": "${DT_TOKEN}", "KEY": f"Bearer {CANARY}"}
    loud = f"no: {CANARY}\n"
    bad_tool = {"name": CANARY, "inputSchema": {"type": CANARY}}
    error = {"error": {"code": -1, "message": f"wrong key {CANARY}"}}
    running = start(
        {
            "dying": {**raw(exit=1, errors=loud), "env": env},
            "noisy": {**raw(answer=False, noise=[loud]), "env": env},
            "absent": {"command": f"{CANARY}-server", "env": env},
            "odd": {
                **raw(tools=[bad_tool, {"name": "t"}], calls={"t": error}, errors=loud),
                "env": env,
            },
        },
        initialize_seconds=1,
    )
    tools = await running["odd"].tools()
    result = await tools["t"].call({})
    assert result.text == "wrong key ***"
    for server in running.values():
        await server.settled()
        assert CANARY not in repr(server.source)
        for state in server.states:
            assert CANARY not in f"{state.reason} {state.warnings}"
    assert "***" in running["dying"].states[-1].reason
    assert "***" in (await running["odd"].ready()).warnings[0]
    assert CANARY not in caplog.text
    # The standard error of a server stays off the terminal.
    assert CANARY not in "".join(capfd.readouterr())


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_closing_in_any_state_returns_and_leaves_no_process(
    start: Any, raw: Raw, tmp_path: Path
) -> None:
    pids = tmp_path / "pids"
    script = {"pids": str(pids), "tools": [{"name": "offspring"}]}
    running = start(
        {
            "ready": raw(**script, calls={"offspring": "offspring"}),
            "stubborn": raw(**script, stubborn=True),
            "connecting": raw(**script, answer=False),
            "dying": raw(**script, exit=1),
            "absent": {"command": "no-such-command-anywhere"},
        }
    )
    tools = await running["ready"].tools()
    offspring = (await tools["offspring"].call({})).structured
    await running["stubborn"].ready()
    await running["absent"].settled()
    await running["dying"].settled()
    assert alive(offspring)
    async with asyncio.timeout(5):
        await asyncio.gather(*(server.close() for server in running.values()))
    everyone = [offspring, *map(int, pids.read_text().split())]
    assert len(everyone) >= 5
    assert not [pid for pid in everyone if alive(pid)]
    with pytest.raises(Exception, match="it is closed, so 'ready__offspring' was not run"):
        await tools["offspring"].call({})


async def test_closing_at_once_leaves_nothing(start: Any, raw: Raw, tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    running = start({f"s{n}": raw(pids=str(pids)) for n in range(8)})
    for server in running.values():
        await server.close()
        await asyncio.sleep(0)
    started = map(int, pids.read_text().split()) if pids.exists() else ()
    assert not [pid for pid in started if alive(pid)]
