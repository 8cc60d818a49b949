"""The command `deferred-tools search`: what a search over your tools finds, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer
from rich.text import Text

from deferred_tools.cli.catalogue import AsJson, ConfigFile, SettingsFile, ToolsFile, tools_of
from deferred_tools.cli.main import CANNOT_RUN
from deferred_tools.cli.output import show, show_json, tell
from deferred_tools.cli.retrievers import DEFAULT, OneRetriever, new_retriever
from deferred_tools.limits import Limits
from deferred_tools.retrievers.base import Hit, Retriever
from deferred_tools.retrievers.explanation import Explains, Explanation
from deferred_tools.search_request import DEFAULT_LIMIT
from deferred_tools.spec import ToolSpec, one_line

_NAME_LENGTH = 200
_TERMS = 12
_INDENT = " " * 15


@dataclass(frozen=True, slots=True)
class _Found:
    rank: int
    score: float
    name: str
    description: str


def search(
    query: Annotated[str, typer.Argument(help="What you need to do, or the name of a tool.")],
    *,
    tools_file: ToolsFile = None,
    config_file: ConfigFile = None,
    settings_file: SettingsFile = None,
    limit: Annotated[int, typer.Option(min=1, help="Tools to show at most.")] = DEFAULT_LIMIT,
    retriever: OneRetriever = DEFAULT,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say what each score is made of, and which words.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what a search over your tools finds, best first."""
    ranker = new_retriever(retriever)
    explainer = _explainer(ranker, retriever) if explain else None
    tools = tools_of(tools_file, config_file, settings_file)
    ranker.index(tools)
    found = _described(ranker.search(query, limit), {spec.name: spec for spec in tools})
    why = explainer.explain(query, [one.name for one in found]) if explainer else ()
    if as_json:
        show_json(_plain(found, why))
    elif found:
        show(Text("\n".join(_lines(found, why))))
    else:
        tell(f"None of {len(tools):,} tools has anything to do with it.", style="yellow")


def _explainer(ranker: Retriever, name: str) -> Explains:
    if isinstance(ranker, Explains):
        return ranker
    tell(
        f"The retriever {name!r} cannot explain, as it has no method `explain`. Leave --explain "
        "out, or use another retriever."
    )
    raise typer.Exit(CANNOT_RUN)


def _described(hits: Sequence[Hit], specs: Mapping[str, ToolSpec]) -> list[_Found]:
    length = Limits().summary_length
    return [
        _Found(rank, hit.score, hit.name, one_line(specs[hit.name].description, length))
        for rank, hit in enumerate(hits, start=1)
    ]


def _plain(found: Sequence[_Found], why: Sequence[Explanation]) -> list[dict[str, Any]]:
    rows = [asdict(one) for one in found]
    for row, one in zip(rows, why, strict=False):
        row["parts"] = [{"label": label, "value": value} for label, value in one.parts]
        row["terms"] = [term._asdict() for term in one.terms]
    return rows


def _lines(found: Sequence[_Found], why: Sequence[Explanation]) -> list[str]:
    names = [one_line(one.name, _NAME_LENGTH) for one in found]
    width = max(map(len, names))
    lines = []
    for number, (one, name) in enumerate(zip(found, names, strict=True)):
        row = f"{one.rank:>3}  {one.score:>8.2f}  {name:<{width}}  {one.description}"
        lines.append(row.rstrip())
        lines += _reasons(why[number]) if why else ()
    return lines


def _reasons(why: Explanation) -> list[str]:
    """The parts of a score, a line each, then the words that gave it."""
    lines = [f"{value:>8.2f}  {one_line(label, _NAME_LENGTH)}" for label, value in why.parts]
    for term in why.terms[:_TERMS]:
        word = term.said if term.said == term.term else f"{term.said} → {term.term}"
        place = f" (in {', '.join(term.fields)})" if term.fields else ""
        lines.append(f"{term.weight:>8.2f}    {one_line(word, _NAME_LENGTH)}{place}")
    if (more := len(why.terms) - _TERMS) > 0:
        lines.append(f"{'':>8}    and {more} more words")
    return [_INDENT + line for line in lines]
