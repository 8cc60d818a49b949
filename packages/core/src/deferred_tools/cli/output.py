"""What commands print. Results go to the output, everything else to the error output.

Text from files and servers is data: never mark-up, never control codes.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from deferred_tools.lock.suspicion import visible


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


def show_json(result: Any) -> None:
    """Print a result for programs, in ASCII, so that no terminal or encoding changes it."""
    typer.echo(json.dumps(result, indent=2))
