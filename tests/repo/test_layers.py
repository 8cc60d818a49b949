"""What import-linter cannot say: it has no name for parts of the namespace `llama_index`."""

import grimp

FOREIGN = {"langchain", "langchain_core", "langchain_deferred_tools", "langgraph", "mcp"}


def test_the_llama_index_adapter_knows_neither_langchain_nor_the_protocol() -> None:
    graph = grimp.build_graph("llama_index.tools.deferred", include_external_packages=True)
    assert {"deferred_tools", "llama_index.core", "workflows"} <= graph.modules
    assert not FOREIGN & graph.modules
