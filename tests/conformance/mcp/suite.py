"""The official conformance suite: fetched from npm, and run one scenario or one server at a time.

Knows how to start it and where its results lie; not what they should be.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

VERSION = "0.2.0-alpha.12"
"""The first line of releases that knows the revision 2026-07-28 of the protocol."""
_NODE = "22.23.3"
_PACKAGE = "@modelcontextprotocol/conformance"
_ROOT = Path(__file__).parents[3]
_CLIENT = Path(__file__).with_name("client.py").relative_to(_ROOT)
_SCENARIO = re.compile(r"^  - (\S+) \[(.*)\]$", re.MULTILINE)
_STAMP = re.compile(r"-\d{4}-\d{2}-\d{2}T[\d-]+Z$")
_SECONDS = 60
"""For one scenario: most of what a client spends is Python's start, on a busy machine."""


class SuiteError(Exception):
    """The suite itself cannot be had or run."""


@dataclass(frozen=True, slots=True)
class Check:
    """What the suite says of one thing that it looked at."""

    name: str
    status: str
    """SUCCESS, FAILURE, WARNING, SKIPPED or INFO."""
    told: str = ""


Checks = Mapping[str, tuple[Check, ...]]
"""Checks by scenario."""


@dataclass(frozen=True, slots=True)
class Suite:
    """The suite, installed."""

    node: Path
    script: Path

    def scenarios(self, side: str) -> dict[str, tuple[str, ...]]:
        """The revisions of the protocol that each scenario of a side (client, server) is for."""
        done = self._run("list", f"--{side}")
        found = _SCENARIO.findall(done.stdout)
        if not found:
            raise SuiteError(f"the suite lists no scenario: {_last(done)}")
        return {name: tuple(of.split(",")) for name, of in found}

    def client(self, scenario: str, revision: str) -> tuple[Check, ...]:
        """Let our client go through one scenario."""
        with tempfile.TemporaryDirectory() as folder:
            done = self._run(
                "client",
                *("--command", f"{sys.executable} {_CLIENT}", "--scenario", scenario),
                *("--timeout", str(_SECONDS * 1000), "--output-dir", folder),
                # An extension is of no revision.
                *(() if revision == "extension" else ("--spec-version", revision)),
            )
            checks = _read(folder).get(scenario, ())
        bad = any(check.status in {"FAILURE", "WARNING"} for check in checks)
        if not checks or (done.returncode and not bad):
            # Nothing was looked at, or the client ended with an error or too late.
            return (*checks, Check("client-exit", "FAILURE", _last(done)))
        return checks

    def server(self, url: str, revision: str) -> Checks:
        """Go through every scenario for servers with the server at `url`."""
        with tempfile.TemporaryDirectory() as folder:
            done = self._run(
                *("server", "--url", url, "--suite", "all", "--spec-version", revision),
                *("--output-dir", folder),
            )
            checks = _read(folder)
        if not checks:
            raise SuiteError(f"the suite looked at nothing of {url}: {_last(done)}")
        return {name.removeprefix("server-"): found for name, found in checks.items()}

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(self.node), str(self.script), *arguments]
        return subprocess.run(
            command, cwd=_ROOT, capture_output=True, text=True, timeout=600, check=False
        )


def install(cache: Path) -> Suite:
    """Fetch the suite, and the Node that it needs where there is none, unless `cache` has them.

    Raises:
        SuiteError: npm is not there, or failed.
    """
    folder = cache / VERSION
    script = folder / "node_modules" / _PACKAGE / "dist" / "index.js"
    own = folder / "node_modules" / ".bin" / "node"
    node = _node()
    packages = [f"{_PACKAGE}@{VERSION}", *([f"node@{_NODE}"] if node is None else [])]
    if not script.exists() or (node is None and not own.exists()):
        npm = shutil.which("npm")
        if npm is None:
            raise SuiteError("there is no npm; install Node and npm to run the suite")
        folder.mkdir(parents=True, exist_ok=True)
        command = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), *packages]
        done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
        if done.returncode:
            raise SuiteError(f"npm could not install {' '.join(packages)}: {_last(done)}")
    if not (node or own).exists():
        raise SuiteError(f"npm left no Node behind; install Node {_NODE} to run the suite")
    return Suite(node or own, script)


def _node() -> Path | None:
    """The machine's Node, if the suite can use it."""
    found = shutil.which("node")
    if found is None:
        return None
    told = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
    return Path(found) if int(told.lstrip("v").split(".")[0] or 0) >= int(_NODE[:2]) else None


def _read(folder: str) -> dict[str, tuple[Check, ...]]:
    results = Path(folder).glob("**/checks.json")
    return {
        _STAMP.sub("", str(file.parent.relative_to(folder))): tuple(
            _collapsed(json.loads(file.read_text()))
        )
        for file in results
    }


_GRAVE = ("FAILURE", "WARNING", "SUCCESS", "SKIPPED", "INFO")


def _collapsed(found: Iterable[Mapping[str, str]]) -> Iterator[Check]:
    """One check for each name: the gravest, as some are made over and over."""
    checks: dict[str, Check] = {}
    for one in found:
        told = one.get("errorMessage") or one["description"]
        check = Check(one["id"], one["status"], told)
        known = checks.get(check.name, check)
        checks[check.name] = min(known, check, key=lambda each: _GRAVE.index(each.status))
    yield from checks.values()


def _last(done: subprocess.CompletedProcess[str]) -> str:
    lines = (done.stdout + done.stderr).strip().splitlines()
    return " / ".join(line for line in lines[-8:] if line.strip())
