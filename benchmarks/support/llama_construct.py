"""What it takes to make an agent with many tools."""

from collections.abc import Sequence
from functools import partial

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.tools import FunctionTool
from support.clock import Timing, repeat
from support.definitions import Definition, take
from support.llama_peer import TOP, index
from support.llama_tools import NoOpLLM, json_tools
from support.ours import servers
from support.report import Measured, Row, Table

from deferred_tools import Toolset
from llama_index.tools.deferred import DeferredTools

SIZES = (1_000, 5_549)
LLM = NoOpLLM.of({})


def measure(pool: Sequence[Definition], *, repeats: int) -> Measured:
    """Ours against an agent with all tools, and one with an ObjectIndex."""
    rows: list[Row] = []
    for size in SIZES:
        some = take(pool, size)
        toolset, tools = partial(_toolset, some), partial(json_tools, some)
        plain = repeat(_plain, repeats, given=tools)
        kinds = {
            "ours": repeat(_ours, repeats, given=toolset),
            "ours, opened as well": repeat(_opened, repeats, given=toolset),
            "FunctionAgent(tools=all)": plain,
            "ObjectIndex": repeat(_indexed, repeats, given=tools),
        }
        rows += [_row(size, what, timing) for what, timing in kinds.items()]
    note = (
        "Tools are made before the clock starts, anew for each run. ObjectIndex embeds by hashing "
        "words, which takes next to nothing: a model would be asked for every tool."
    )
    return Measured([Table("Constructing an agent", rows, note)])


def _toolset(definitions: Sequence[Definition]) -> Toolset:
    return Toolset(servers(definitions))


def _ours(toolset: Toolset) -> object:
    return DeferredTools(toolset).attach(FunctionAgent(llm=LLM))


def _opened(toolset: Toolset) -> object:
    return _ours(toolset.open())


def _plain(tools: list[FunctionTool]) -> object:
    return FunctionAgent(llm=LLM, tools=[*tools])


def _indexed(tools: list[FunctionTool]) -> object:
    retriever = index(tools).as_retriever(similarity_top_k=TOP)
    return FunctionAgent(llm=LLM, tool_retriever=retriever)


def _row(size: int, what: str, timing: Timing) -> Row:
    return {
        "tools": size,
        "agent": what,
        "median ms": timing.median,
        "least ms": timing.least,
        "cpu ms": timing.cpu,
    }
