"""What commands print. Results go to the output, everything else to the error output.

Text from files and servers is data: never mark-up, never control codes.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from deferred_tools.lock.suspicion import HIDDEN, visible
from deferred_tools.spec import one_line

_CELL = 500
_WIDEST = 60
_GAP = "  "
# What puts the signs of some scripts and pictures together is kept; it steers nothing.
_STEERING = re.compile(rf"(?<=[^\x00-\x7f])([\ufe0f\u200c\u200d])|{HIDDEN.pattern}|\r")


def tell(message: str, style: str = "red") -> None:
    """Say something that is not a result, an error unless styled otherwise."""
    Console(stderr=True).print(Text(visible(message), style=style), soft_wrap=True)


def warn(problems: Sequence[str]) -> None:
    """Tell what was left out, a line each."""
    for problem in problems:
        tell(f"Left out: {problem}", style="yellow")


@contextmanager
def working(at: str) -> Iterator[Callable[[str], None]]:
    """Show on a terminal that something takes its time, and what it is at; gone afterwards.

    Gives what to call to say something else.
    """
    with Console(stderr=True).status(Text(at)) as status:
        yield lambda now: status.update(Text(now))


def show(result: Table | Text) -> None:
    """Print a result for people. Long lines stay whole, as they may go to a file."""
    Console(highlight=False).print(result, soft_wrap=isinstance(result, Text))


def show_text(text: str) -> None:
    """Print a text that is data, whole, with an escape for each character that would steer."""
    typer.echo(_STEERING.sub(_escaped, text.replace("\r\n", "\n")))


def show_rows(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print rows of text that is data, a line each, however many they are.

    No frames and no folding: that takes seconds for thousands of rows, and a line is what other
    programs look for.
    """
    cells = [[one_line(cell, _CELL) for cell in row] for row in (head, *rows)]
    lengths = [[cell_len(cell) for cell in row] for row in cells]
    widths = [min(max(column), _WIDEST) for column in zip(*lengths, strict=True)]
    lines = [
        _GAP.join(
            cell + " " * (width - length)
            for cell, width, length in zip(row, widths, row_lengths, strict=True)
        ).rstrip()
        for row, row_lengths in zip(cells, lengths, strict=True)
    ]
    show(Text(title, "bold"))
    show(Text(lines[0], "dim"))
    typer.echo("\n".join([*lines[1:], ""]))


def show_json(result: Any) -> None:
    """Print a result for programs, in ASCII, so that no terminal or encoding changes it."""
    typer.echo(json.dumps(result, indent=2))


def _escaped(found: re.Match[str]) -> str:
    return found[1] or found[0].encode("unicode_escape").decode()
