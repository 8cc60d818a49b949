#!/usr/bin/env bash
# Builds all distributions and installs them as a user would: core alone, then each adapter without
# the other's framework.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

uv build --quiet --all-packages --wheel --out-dir "$work/dist"
rm -f "$work"/dist/deferred_tools_workspace-*

uv venv --quiet "$work/core"
uv pip install --quiet --python "$work/core/bin/python" "$work"/dist/deferred_tools-*.whl
"$work/core/bin/python" - <<'PY'
import sys
import deferred_tools
heavy = {"numpy", "scipy", "mcp", "langchain_core", "langgraph", "typer", "rich", "torch"}
loaded = heavy & set(sys.modules)
assert not loaded, loaded
from importlib.metadata import distributions
installed = {d.metadata["Name"].lower() for d in distributions()}
assert not installed & {"numpy", "scipy", "pandas", "torch", "onnxruntime"}, installed
print("core alone:", len(installed), "distributions, no numeric stack")

# The small model lies in the wheel; the large one says what to install.
from deferred_tools.errors import ConfigurationError
from deferred_tools.retrievers.builtin import builtin
retriever = builtin("bm25")()
mail = deferred_tools.ToolSpec(source="s", tool="send", description="Send a message by mail")
note = deferred_tools.ToolSpec(source="s", tool="note", description="Keep a message by date")
retriever.index([note, mail])
assert [hit.name for hit in retriever.search("message to a mailbox", 1)] == ["s__send"]
try:
    builtin("hybrid")
except ConfigurationError as error:
    assert "deferred-tools[embeddings]" in str(error), error
else:
    raise AssertionError("no model is installed")
assert not heavy & set(sys.modules)
PY
code=0
"$work/core/bin/deferred-tools" || code=$?  # says what to install
[ "$code" -eq 2 ]

uv venv --quiet "$work/demo"
uv pip install --quiet --python "$work/demo/bin/python" \
    "$work"/dist/deferred_tools-*.whl "$(ls "$work"/dist/langchain_deferred_tools-*.whl)[demo]"
help=$("$work/demo/bin/deferred-tools" --help)
grep -q demo <<<"$help"
"$work/demo/bin/python" -c "
from deferred_tools import Toolset
from langchain_core.tools import tool
from langchain_deferred_tools.middleware import DeferredToolsMiddleware
@tool
def hello() -> str:
    'Says hello.'
    return 'hello'
with Toolset.from_sources([hello]) as toolset:
    DeferredToolsMiddleware(toolset)
    assert toolset.registry.names() == ('hello',)
print('adapter from wheels: entry points found')
"

llama=$(ls "$work"/dist/llama_index_tools_deferred-*.whl)
# The folders above ours are shared: one __init__.py there, and every other package is gone.
listing=$("$work/core/bin/python" -c \
    'import sys, zipfile; print(*zipfile.ZipFile(sys.argv[1]).namelist(), sep="\n")' "$llama")
if grep -E '^llama_index/(tools/)?[^/]*$' <<<"$listing"; then
    echo "the wheel has files of its own in folders that it shares with LlamaIndex's" >&2
    exit 1
fi
grep -qx 'llama_index/tools/deferred/py.typed' <<<"$listing"
uv venv --quiet "$work/llama"
uv pip install --quiet --python "$work/llama/bin/python" \
    "$work"/dist/deferred_tools-*.whl "$llama" llama-index-tools-mcp "pydantic<2.14"
"$work/llama/bin/python" - <<'PY'
import sys
from importlib.metadata import distributions

import llama_index.tools.mcp  # another package in the same folder
from deferred_tools import Toolset
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import MockLLM
from llama_index.core.tools import FunctionTool
from llama_index.tools.deferred import DeferredTools

installed = {d.metadata["Name"].lower() for d in distributions()}
assert not any(name.startswith("langchain") for name in installed), installed
assert not [name for name in sys.modules if name.startswith(("langchain", "langgraph"))]


def hello() -> str:
    """Says hello."""
    return "hello"


with Toolset.from_sources([FunctionTool.from_defaults(hello)]) as toolset:
    DeferredTools(toolset).attach(FunctionAgent(llm=MockLLM()))
    assert toolset.registry.names() == ("hello",)
print("LlamaIndex adapter from wheels: entry point found, beside llama-index-tools-mcp")
PY
