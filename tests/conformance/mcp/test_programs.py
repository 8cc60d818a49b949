"""The two programs that the suite is run with, against each other: without the suite."""

import sys
from pathlib import Path
from subprocess import PIPE, Popen, run

import pytest

from tests.conformance.mcp.server import TOOLS

pytestmark = pytest.mark.thorough

HERE = Path(__file__).parent


def test_the_client_calls_each_tool_of_the_test_server() -> None:
    with Popen([sys.executable, str(HERE / "server.py")], stdout=PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            client = [sys.executable, str(HERE / "client.py"), url]
            done = run(client, capture_output=True, text=True, timeout=60, check=False)
        finally:
            server.terminate()
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert said[:2] == ["connecting ", "ready "]
    assert {line.split(" answered ")[0] for line in said[2:] if " answered " in line} == set(TOOLS)
