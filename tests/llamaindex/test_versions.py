"""What the adapter needs of its framework. `tools/version_matrix.py` runs it with its versions."""

import asyncio
import json
import subprocess
import sys
import warnings

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.workflow import Context
from tools.version_matrix import COMBINATIONS, CORE, LLAMA_INDEX, ROOT, requirements

from llama_index.tools.deferred import DeferredTools
from tests.support.llama_agents import arun
from tests.support.llama_model import ScriptedLLM
from tests.support.tools import MakeToolset

LOADED = """
import json, sys
import llama_index.tools.deferred, llama_index.tools.deferred.workflow
frameworks = ("langchain", "langchain_core", "langgraph", "llama_agents.server", "mcp")
print(json.dumps([name for name in frameworks if name in sys.modules]))
"""
OURS = [name for name, one in COMBINATIONS.items() if one.adapter == LLAMA_INDEX]


def test_the_adapter_loads_no_other_framework_and_no_protocol() -> None:
    command = [sys.executable, "-c", LOADED]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(done.stdout) == []


def test_attach_warns_of_a_pydantic_with_which_an_agent_forgets_and_of_no_other(
    toolset_of: MakeToolset,
) -> None:
    llm = ScriptedLLM.of("one", "two")
    agent = FunctionAgent(llm=llm)

    async def two_turns() -> None:
        ctx = Context(agent)
        await arun(agent, "my name is Ada", ctx)
        await arun(agent, "who am I?", ctx)

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        DeferredTools(toolset_of([])).attach(agent)
        warned = any("Install pydantic<2.14" in str(one.message) for one in told)
        asyncio.run(two_turns())
    remembered = "my name is Ada" in [message.content for message in llm.asked[1].messages]
    assert warned is not remembered


@pytest.mark.parametrize("name", OURS)
def test_the_version_matrix_runs_tests_that_exist_on_both_packages(name: str) -> None:
    combination = COMBINATIONS[name]
    assert all((ROOT / test).exists() for test in combination.tests)
    assert requirements(combination)[:2] == [str(CORE), str(LLAMA_INDEX)]
    for test in combination.without:
        path, function = test.partition("[")[0].split("::")
        assert f"def {function}(" in (ROOT / path).read_text()


def test_the_oldest_combination_starts_where_the_declared_requirements_do() -> None:
    required = requirements(COMBINATIONS["llama-oldest"])
    assert "llama-index-core>=0.14.10,<0.15" in required
    assert "llama-index-workflows>=2.23.3,<3" in required
    assert not any(line.startswith(("deferred-tools", "llama-index-tools")) for line in required)
