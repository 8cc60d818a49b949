"""Public are the documented `__all__`s. A change here is a change for users: see CHANGELOG."""

import importlib
import subprocess
import sys

import pytest

PUBLIC = {
    "deferred_tools": [
        "AgentTools", "Aliases", "ApprovalRequest", "Caller", "CallerKind", "Contract",
        "DeferredToolsError", "FunctionSource", "FunctionTool", "Grant", "Grants", "Hit",
        "Inherit", "Lazy", "Limits", "MissLog", "Override", "Policy", "Registry", "Retriever",
        "Route", "SearchOutcome", "ServerSettings", "Session", "Settings", "Source",
        "SourceState", "SourceStatus", "Tier", "Tool", "ToolCatalog", "ToolIndex", "ToolResult",
        "ToolSpec", "ToolSummary", "ToolTag", "ToolsLock", "Toolset", "Workflow", "hookimpl",
    ],
    "deferred_tools.bridge": [
        "DIALECTS", "UNKNOWN", "ArgumentsDelta", "Complete", "Decoration", "Dialect", "Fragment",
        "Invalid", "InvalidCallsError", "Means", "MintedIds", "Named", "OnInvalid", "Outcome",
        "Progress", "Reason", "Slot", "Started", "ToolCallAssembler", "ToolCallBridge",
        "WireEvent", "read_event",
    ],
    "langchain_deferred_tools": [
        "Conversation", "LangChainTool", "bind", "exact_calls", "invalid_calls", "settled",
    ],
    "llama_index.tools.deferred": [
        "DeferredToolSession", "DeferredToolState", "DeferredTools", "LlamaIndexTool", "bind",
        "exact_calls",
    ],
}  # fmt: skip
HEAVY = [
    "cel",
    "yaml",
    "langchain",
    "langchain_core",
    "langgraph",
    "llama_index",
    "llama_index_instrumentation",
    "mcp",
    "numpy",
    "rich",
    "typer",
    "workflows",
]


@pytest.mark.parametrize("package", PUBLIC)
def test_a_package_exports_exactly_its_documented_names(package: str) -> None:
    module = importlib.import_module(package)
    assert module.__all__ == PUBLIC[package]
    assert all(getattr(module, name) is not None for name in module.__all__)


def test_importing_core_loads_no_framework_no_protocol_and_no_command_line() -> None:
    code = f"import sys, deferred_tools; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_adapters_front_door_loads_langchain_core_only() -> None:
    heavy = {"langchain", "langgraph"}
    code = f"import sys, langchain_deferred_tools; print({heavy!r} & sys.modules.keys())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
