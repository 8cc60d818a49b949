#!/usr/bin/env bash
# Builds both distributions and installs them as a user would: core alone, then the demo's extra.
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
