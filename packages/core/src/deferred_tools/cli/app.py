"""The command line: `--version`, and a sub-command for each entry point of a group.

Knows no command. Any distribution adds one: a function that typer can register, under the
command's name in the entry-point group `deferred_tools.commands`.
"""

import ast
import logging
import sys
from contextlib import suppress
from functools import cached_property
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.markup import escape
from typer.core import TyperCommand, TyperGroup

from deferred_tools.cli.main import CANNOT_RUN
from deferred_tools.cli.output import tell
from deferred_tools.errors import DeferredToolsError

GROUP = "deferred_tools.commands"
logger = logging.getLogger(__name__)


def main() -> None:
    """Run the command with the arguments of this process, and exit."""
    try:
        make_app()(prog_name="deferred-tools")
    except DeferredToolsError as error:
        tell(str(error))
        sys.exit(1)


def make_app() -> typer.Typer:
    """The app, with the commands that are installed."""
    app = typer.Typer(
        cls=InstalledCommands,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    app.callback()(_options)
    return app


class InstalledCommands(TyperGroup):
    """The entry points of `GROUP`. Each is loaded when it is run or completed, and only then."""

    @cached_property
    def installed(self) -> dict[str, EntryPoint]:
        """What there is, by name; to look takes a while."""
        return {point.name: point for point in entry_points(group=GROUP)}

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names."""
        return sorted(self.installed)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """What help shows of the command of that name, or None: nothing of it is loaded."""
        point = self.installed.get(cmd_name)
        return None if point is None else TyperCommand(cmd_name, help=_described(point))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the arguments name, loaded."""
        name, command, rest = super().resolve_command(ctx, args)
        if name is None or command is None:
            return name, command, rest
        return name, typer.main.get_command(_loaded(self.installed[name])), rest


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"deferred-tools {_installed_version()}")
        raise typer.Exit


def _options(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Keep hundreds of tools out of an agent's context until it needs them."""


def _described(point: EntryPoint) -> str:
    """The docstring of a command as it is written, "" where that cannot be read.

    To import all commands for one line of each would take seconds: some bring a framework.
    """
    top, *inner = point.module.split(".")
    with suppress(ImportError, OSError, ValueError, SyntaxError):
        found = find_spec(top)
        if found is None or found.origin is None:
            return ""
        file = Path(found.origin)
        if inner:
            file = file.parent.joinpath(*inner).with_suffix(".py")
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name == point.attr:
                return escape(ast.get_docstring(node) or "")
    return ""


def _loaded(point: EntryPoint) -> typer.Typer:
    """The command, or one in its place that says why it cannot run."""
    app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    try:
        app.command(point.name)(point.load())
    except ImportError as error:
        _stand_in(app, point.name, f"{_lacking(error)} {_cure(point)}")
    except Exception:
        logger.exception("command %r cannot be loaded", point.name)
        _stand_in(app, point.name, f"It failed while it was loaded from {point.value!r}.")
    return app


def _stand_in(app: typer.Typer, name: str, why: str) -> None:
    takes_anything = {"ignore_unknown_options": True, "allow_extra_args": True}

    # Escaped, as rich would take the brackets of an extra for mark-up.
    @app.command(name, help=escape(f"Not available. {why}"), context_settings=takes_anything)
    def unavailable() -> None:
        tell(f"{name!r} is not available. {why}")
        raise typer.Exit(CANNOT_RUN)


def _lacking(error: ImportError) -> str:
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"It needs the module {error.name!r}, which is not installed."
    return f"A module that it needs cannot be imported: {error}."


def _cure(point: EntryPoint) -> str:
    """What to do: a distribution keeps what a command needs in the extra of its name."""
    if point.dist is None:
        return ""
    if point.name in (point.dist.metadata.get_all("Provides-Extra") or ()):
        return f'Install it: pip install "{point.dist.name}[{point.name}]"'
    return f"Install {point.dist.name!r} anew, with all that it depends on."


def _installed_version() -> str:
    try:
        return version("deferred-tools")
    except PackageNotFoundError:
        return "(from a source tree)"
