"""The command `deferred-tools search`: what a search over a file of tools finds."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated

import typer
from rich.text import Text

from deferred_tools.cli.files import AsJson, ToolsFile, tools_of
from deferred_tools.cli.output import show, show_json, tell
from deferred_tools.limits import Limits
from deferred_tools.retrievers.base import Hit
from deferred_tools.retrievers.builtin import builtin
from deferred_tools.search_request import DEFAULT_LIMIT
from deferred_tools.spec import ToolSpec, one_line

_NAME_LENGTH = 200


@dataclass(frozen=True, slots=True)
class _Found:
    rank: int
    score: float
    name: str
    description: str


def search(
    query: Annotated[str, typer.Argument(help="What you need to do, or the name of a tool.")],
    tools_file: ToolsFile,
    limit: Annotated[int, typer.Option(min=1, help="Tools to show at most.")] = DEFAULT_LIMIT,
    retriever: Annotated[str, typer.Option(metavar="NAME")] = "bm25",
    as_json: AsJson = False,
) -> None:
    """Show what a search over your tools finds, best first."""
    ranker = builtin(retriever)()
    tools = tools_of(tools_file)
    ranker.index(tools)
    found = _described(ranker.search(query, limit), {spec.name: spec for spec in tools})
    if as_json:
        show_json([asdict(one) for one in found])
    elif found:
        show(Text("\n".join(_lines(found))))
    else:
        tell(f"None of {len(tools):,} tools has anything to do with it.", style="yellow")


def _described(hits: Sequence[Hit], specs: Mapping[str, ToolSpec]) -> list[_Found]:
    length = Limits().summary_length
    return [
        _Found(rank, hit.score, hit.name, one_line(specs[hit.name].description, length))
        for rank, hit in enumerate(hits, start=1)
    ]


def _lines(found: Sequence[_Found]) -> list[str]:
    names = [one_line(one.name, _NAME_LENGTH) for one in found]
    width = max(map(len, names))
    return [
        f"{one.rank:>3}  {one.score:>8.2f}  {name:<{width}}  {one.description}".rstrip()
        for one, name in zip(found, names, strict=True)
    ]
