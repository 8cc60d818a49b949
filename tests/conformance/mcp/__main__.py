"""Runs the official conformance suite and prints what came of it, scenario by scenario.

Our source goes through the scenarios for clients; the test server, and the same server behind the
gateway with its tools pinned, through those for servers. Exits with 1 for a failure that
`expected.toml` does not have, and for one that it has and that is none; with 2 when the suite
cannot be run.
"""

import argparse
import json
import re
import sys
import tempfile
import tomllib
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path
from subprocess import PIPE, STDOUT, Popen, TimeoutExpired

from platformdirs import user_cache_path

from tests.conformance.mcp.server import TOOLS
from tests.conformance.mcp.suite import Check, Suite, SuiteError, install
from tests.conformance.mcp.verdict import Expected, with_losses

REVISIONS = ("2025-11-25", "2026-07-28")
"""The latest with a handshake, and the one without."""
_HERE = Path(__file__).parent
_SERVER = [sys.executable, str(_HERE / "server.py")]
_GATEWAY = [sys.executable, "-c", "from deferred_tools.cli.main import run; run()", "serve"]
_ADDRESS = re.compile(r"http://\S+")
# The others are about prompts, resources, tasks and asking a client back: none of ours.
_SERVER_SCENARIOS = (
    "caching",
    "dns-rebinding-protection",
    "http-*",
    "json-schema-*",
    "logging-*",
    "ping",
    "server-*",
    "tools-*",
)
# What we do beside these revisions. Other extensions we do not speak: signing in by JWT, DPoP,
# workload identity or an enterprise's provider, and skills.
_BESIDE = ("auth/2025-03-26-*", "auth/client-credentials-basic")
_AT_ONCE = 2
_STOP_SECONDS = 10

Found = dict[tuple[str, str], Sequence[Check]]
"""Checks by scenario and revision."""


def main() -> int:
    """Run the scenarios that fit a pattern."""
    parser = argparse.ArgumentParser(prog="conformance", description=__doc__)
    parser.add_argument("--only", default="*", metavar="PATTERN", help="scenarios, such as auth/*")
    only = parser.parse_args().only
    reasons = tomllib.loads((_HERE / "expected.toml").read_text())
    try:
        suite = install(user_cache_path("deferred-tools") / "conformance")
        found = _of_servers(suite, only) | _of_client(suite, only)
    except SuiteError as error:
        _say(f"The suite cannot be run: {error}")
        return 2
    if not found:
        _say(f"No scenario of ours fits {only!r}.")
        return 2
    wrong = [_report(side, checks, reasons[side], only) for side, checks in found.items()]
    return int(any(wrong))


def _of_client(suite: Suite, only: str) -> dict[str, Found]:
    wanted = [
        (scenario, revision)
        for scenario, revisions in suite.scenarios("client").items()
        for revision in revisions
        if fnmatchcase(scenario, only) and (revision in REVISIONS or _fits(scenario, _BESIDE))
    ]
    with ThreadPoolExecutor(_AT_ONCE) as threads:
        found = threads.map(lambda one: suite.client(*one), wanted)
        return {"client": dict(zip(wanted, found, strict=True))} if wanted else {}


def _of_servers(suite: Suite, only: str) -> dict[str, Found]:
    wanted = {
        scenario
        for scenario in suite.scenarios("server")
        if fnmatchcase(scenario, only) and _fits(scenario, _SERVER_SCENARIOS)
    }
    if not wanted:
        return {}
    with _started(_SERVER) as url, tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "mcp.json")
        entry = {"url": url, "pinned": list(TOOLS)}
        config.write_text(json.dumps({"mcpServers": {"conformance": entry}}))
        direct = _of_server(suite, url, wanted)
        with _started([*_GATEWAY, "--config", str(config), "--http", "127.0.0.1:0"]) as gateway:
            behind = _of_server(suite, gateway, wanted)
    compared: Found = {
        key: with_losses(behind.get(key, ()), checks) for key, checks in direct.items()
    }
    return {"server": direct, "gateway": compared}


def _of_server(suite: Suite, url: str, wanted: Container[str]) -> Found:
    return {
        (scenario, revision): checks
        for revision in REVISIONS
        for scenario, checks in suite.server(url, revision).items()
        if scenario in wanted
    }


def _fits(scenario: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(scenario, pattern) for pattern in patterns)


@contextmanager
def _started(command: list[str]) -> Iterator[str]:
    """The address of a server, which is stopped afterwards."""
    with Popen(command, stdout=PIPE, stderr=STDOUT, text=True) as process:
        try:
            yield _address(process)
        finally:
            process.terminate()
            try:
                process.wait(_STOP_SECONDS)
            except TimeoutExpired:
                process.kill()


def _address(process: Popen[str]) -> str:
    told = ""
    for line in process.stdout or ():
        told += line
        if address := _ADDRESS.search(line):
            return address.group()
    raise SuiteError(f"the server under test did not start: {told}")


def _report(side: str, found: Found, reasons: Mapping[str, Mapping[str, str]], only: str) -> bool:
    """Print a table; whether anything is not as expected."""
    revisions = sorted({revision for _, revision in found})
    expected = {revision: Expected(reasons.get(revision, {})) for revision in revisions}
    verdicts = {
        (scenario, revision): expected[revision].judge(scenario, checks)
        for (scenario, revision), checks in found.items()
    }
    _say(f"\n{side:<46}" + "".join(f"{revision:<22}" for revision in revisions))
    for name in sorted({scenario for scenario, _ in found}):
        cells = [str(verdicts.get((name, revision), "")) for revision in revisions]
        _say(f"  {name:<44}" + "".join(f"{cell:<22}" for cell in cells).rstrip())
    wrong = [
        f"{scenario} ({revision}): {check.name}: {check.status}: {check.told}"
        for (scenario, revision), verdict in verdicts.items()
        for check in verdict.failed
    ]
    for revision, known in expected.items():
        for key in sorted(known.came_true):
            _say(f"  expected ({revision}): {key}: {known.reasons[key]}")
        wrong += [f"{key} ({revision}): is to fail, and does not" for key in known.stale(only)]
    for text in wrong:
        _say(f"  NOT AS EXPECTED: {text}")
    return bool(wrong)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
