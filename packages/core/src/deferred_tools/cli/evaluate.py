"""The command `deferred-tools eval`: how well retrievers find your tools, side by side."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from deferred_tools.cli.catalogue import AsJson, ConfigFile, SettingsFile, ToolsFile, tools_of
from deferred_tools.cli.output import show, show_json, tell, warn, working
from deferred_tools.cli.retrievers import DEFAULT, new_retriever
from deferred_tools.errors import ConfigurationError
from deferred_tools.evaluation.data import Query, by_name, read_queries, sample, unknown
from deferred_tools.evaluation.plot import svg
from deferred_tools.evaluation.run import Evaluation, evaluate
from deferred_tools.spec import ToolSpec


def evaluate_command(
    queries_file: Annotated[
        Path,
        typer.Argument(
            metavar="QUERIES",
            help="Queries as JSON lines, .jsonl or .jsonl.gz, with the keys id, query and "
            "relevant (names or ids of the tools that answer it, or server/tool).",
        ),
    ],
    *,
    tools_file: ToolsFile = None,
    config_file: ConfigFile = None,
    settings_file: SettingsFile = None,
    retrievers: Annotated[
        list[str] | None,
        typer.Option(
            "--retriever",
            metavar="NAME",
            help="By name, or your own as module:factory. May be given more than once. "
            f"[default: {DEFAULT}]",
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Take so many of the queries, always the same ones.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE.svg", help="Also draw recall by k, and quality by latency."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure how well retrievers find the right tools for your queries."""
    named = [(name, new_retriever(name)) for name in dict.fromkeys(retrievers or [DEFAULT])]
    tools = tools_of(tools_file, config_file, settings_file)
    queries = _queries_of(queries_file, limit, tools)
    measured = []
    for name, ranker in named:
        with working(f"Measuring {name}: {len(queries):,} queries, {len(tools):,} tools"):
            measured.append(evaluate(name, ranker, tools, queries))
    if plot is not None:
        _write(plot, svg(measured))
    if as_json:
        show_json([_plain(one) for one in measured])
    else:
        show(_table(measured, tools))


def _queries_of(file: Path, limit: int | None, tools: Sequence[ToolSpec]) -> tuple[Query, ...]:
    read = read_queries(file)
    warn(read.problems)
    queries = by_name(read.rows if limit is None else sample(read.rows, limit), tools)
    if missing := unknown(queries, tools):
        touched = sum(not missing.isdisjoint(query.relevant) for query in queries)
        tell(
            f"{len(missing)} relevant id(s), such as {min(missing)!r}, are not among the tools. "
            f"They count as not found, in {touched} of {len(queries)} queries.",
            style="yellow",
        )
    return queries


def _write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"{file} cannot be written: {error.strerror}.") from error


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
        if field == "ndcg_10":
            between = (one.ndcg_10_between for one in measured)
            table.add_row("  95 % between", *(f"{low:.3f} - {high:.3f}" for low, high in between))
    table.add_section()
    table.add_row("index, ms", *(f"{1_000 * one.index_seconds:,.0f}" for one in measured))
    table.add_row("search p50, µs", *(f"{one.latency_us.p50:,.0f}" for one in measured))
    table.add_row("search p95, µs", *(f"{one.latency_us.p95:,.0f}" for one in measured))
    table.add_row("tokens per search", *(f"{one.tokens_per_search:,.0f}" for one in measured))
    return table
