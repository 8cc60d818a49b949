"""What the adapter needs of its frameworks. `tools/version_matrix.py` runs it with them."""

import json
import subprocess
import sys

import pytest
from tools.version_matrix import COMBINATIONS, CORE, LANGCHAIN, ROOT, requirements

LOADED = """
import importlib, json, sys
importlib.import_module(sys.argv[1])
frameworks = ("langchain", "langchain_core", "langgraph", "mcp")
print(json.dumps([name for name in frameworks if name in sys.modules]))
"""


@pytest.mark.parametrize(
    ("module", "frameworks"),
    [
        ("deferred_tools", []),
        ("langchain_deferred_tools", ["langchain_core"]),
        ("langchain_deferred_tools.graph", ["langchain_core", "langgraph"]),
        ("langchain_deferred_tools.middleware", ["langchain", "langchain_core", "langgraph"]),
    ],
)
def test_each_part_loads_no_more_than_its_extra_brings(module: str, frameworks: list[str]) -> None:
    command = [sys.executable, "-c", LOADED, module]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(done.stdout) == frameworks


OURS = [name for name, one in COMBINATIONS.items() if one.adapter == LANGCHAIN]


@pytest.mark.parametrize("name", OURS)
def test_the_version_matrix_runs_tests_that_exist_on_both_packages(name: str) -> None:
    combination = COMBINATIONS[name]
    assert all((ROOT / test).exists() for test in combination.tests)
    assert requirements(combination)[:2] == [str(CORE), str(LANGCHAIN)]


def test_the_oldest_combination_starts_where_the_declared_requirements_do() -> None:
    required = requirements(COMBINATIONS["oldest"])
    assert "langchain>=1.2.11,<2" in required
    assert "langchain-core>=1.0,<2" in required
    assert not any(line.startswith(("deferred-tools", "langchain-deferred")) for line in required)
