"""Tokens: what each call of the model is sent of tools, ours against all of them."""

import json
import statistics
from collections.abc import Callable, Iterable, Sequence

from llama_index.core.tools import ToolMetadata
from support.definitions import Definition
from support.llama_tools import json_tools
from support.ours import toolset
from support.queries import QUERIES
from support.report import Goal, Measured, Row, Table

from deferred_tools import Caller, Session
from deferred_tools.search_request import DESCRIPTION, NAME, PARAMETERS
from llama_index.tools.deferred.bind import bind
from llama_index.tools.deferred.schema import metadata_of

Count = Callable[[str], int]


def measure(pool: Sequence[Definition], count: Count) -> Measured:
    """The block, `tool_search` and the tools of one search, against every schema."""

    def sent(tools: Iterable[ToolMetadata]) -> int:
        return sum(count(_compact(tool.to_openai_tool(skip_length_check=True))) for tool in tools)

    everything = sent(tool.metadata for tool in json_tools(pool))
    root = Session(caller=Caller.root())
    search = metadata_of(name=NAME, description=DESCRIPTION, parameters=PARAMETERS)
    with toolset(pool) as tools:
        fixed = count(tools.prompt(root.caller)) + sent([search])
        sessions = [tools.search(root, {"query": query}).session for query in QUERIES]
        found = [
            sent(bind(tools, session, entry).metadata for entry in tools.bound(session))
            for session in sessions
        ]
    kinds = {
        f"all {len(pool):,} schemas": everything,
        "ours: block and tool_search": fixed,
        "ours, with the tools of one search": fixed + round(statistics.mean(found)),
        f"  the most of {len(QUERIES)} searches": fixed + max(found),
    }
    rows: list[Row] = [
        {"bound": what, "tokens": tokens, "cut %": 100 - 100 * tokens / everything}
        for what, tokens in kinds.items()
    ]
    goal = Goal("surface per step", 100 - rows[2]["cut %"], 1, "% of all schemas")
    note = "OpenAI's form, compact, as LlamaIndex sends it; counted in o200k_base."
    return Measured([Table("Tool surface per step", rows, note)], [goal])


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
