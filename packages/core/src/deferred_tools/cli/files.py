"""What the commands that rank tools of a file have in common."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from deferred_tools.cli.output import tell
from deferred_tools.evaluation.data import read_tools
from deferred_tools.spec import ToolSpec

ToolsFile = Annotated[
    Path,
    typer.Option(
        "--tools",
        metavar="FILE",
        help="Tools as JSON lines, .jsonl or .jsonl.gz, with the keys id, name, description, "
        "parameters and server.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def tools_of(file: Path) -> tuple[ToolSpec, ...]:
    """The tools of a file; what is wrong with it is told."""
    read = read_tools(file)
    warn(read.problems)
    return read.rows


def warn(problems: Sequence[str]) -> None:
    """Tell every problem, a line each."""
    for problem in problems:
        tell(f"Left out: {problem}", style="yellow")
