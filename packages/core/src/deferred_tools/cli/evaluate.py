"""The command `deferred-tools eval`: how well retrievers find your tools, side by side."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from deferred_tools.cli.files import AsJson, ToolsFile, tools_of, warn
from deferred_tools.cli.output import show, show_json, tell
from deferred_tools.evaluation.data import Query, read_queries, sample, unknown
from deferred_tools.evaluation.run import Evaluation, evaluate
from deferred_tools.retrievers.builtin import builtin
from deferred_tools.spec import ToolSpec


def evaluate_command(
    queries_file: Annotated[
        Path,
        typer.Argument(
            metavar="QUERIES",
            help="Queries as JSON lines, .jsonl or .jsonl.gz, with the keys id, query and "
            "relevant (ids of the tools that answer it).",
        ),
    ],
    tools_file: ToolsFile,
    retrievers: Annotated[
        list[str] | None,
        typer.Option(
            "--retriever", metavar="NAME", help="Default: bm25. May be given more than once."
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Take so many of the queries, always the same ones.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure how well retrievers find the right tools for your queries."""
    makers = {name: builtin(name) for name in retrievers or ["bm25"]}
    tools = tools_of(tools_file)
    queries = _queries_of(queries_file, limit)
    _tell_of_unknown(queries, tools)
    measured = [evaluate(name, make(), tools, queries) for name, make in makers.items()]
    if as_json:
        show_json([_plain(one) for one in measured])
    else:
        show(_table(measured, tools))


def _queries_of(file: Path, limit: int | None) -> tuple[Query, ...]:
    read = read_queries(file)
    warn(read.problems)
    return read.rows if limit is None else sample(read.rows, limit)


def _tell_of_unknown(queries: Sequence[Query], tools: Sequence[ToolSpec]) -> None:
    names = unknown(queries, tools)
    if names:
        touched = sum(not names.isdisjoint(query.relevant) for query in queries)
        tell(
            f"{len(names)} relevant id(s), such as {min(names)!r}, are not among the tools. They "
            f"count as not found, in {touched} of {len(queries)} queries.",
            style="yellow",
        )


def _plain(one: Evaluation) -> dict[str, Any]:
    return {
        "retriever": one.retriever,
        "queries": one.queries,
        **{_metric(field): score for field, score in asdict(one.scores).items()},
        "latency_us": asdict(one.latency_us),
        "tokens_per_search": one.tokens_per_search,
    }


def _metric(field: str) -> str:
    return field.replace("_", "@")


def _table(measured: Sequence[Evaluation], tools: Sequence[ToolSpec]) -> Table:
    table = Table(
        title=f"{measured[0].queries:,} queries, {len(tools):,} tools", title_justify="left"
    )
    table.add_column("")
    for one in measured:
        table.add_column(one.retriever, justify="right")
    scores = [asdict(one.scores) for one in measured]
    for field in scores[0]:
        table.add_row(_metric(field), *(f"{of[field]:.3f}" for of in scores))
    table.add_section()
    table.add_row("index, ms", *(f"{1_000 * one.index_seconds:,.0f}" for one in measured))
    table.add_row("search p50, µs", *(f"{one.latency_us.p50:,.0f}" for one in measured))
    table.add_row("search p95, µs", *(f"{one.latency_us.p95:,.0f}" for one in measured))
    table.add_row("tokens per search", *(f"{one.tokens_per_search:,.0f}" for one in measured))
    return table
