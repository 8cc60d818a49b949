"""The command line: `--version`, and a sub-command for each entry point of a group.

Knows no command. Any distribution adds one: a function that typer can register, under the
command's name in the entry-point group `deferred_tools.commands`.
"""

import logging
import sys
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from typing import Annotated, Any

import typer
from rich.markup import escape
from typer.core import TyperGroup

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
        add_completion=False,
        pretty_exceptions_enable=False,
    )
    app.callback()(_options)
    return app


class InstalledCommands(TyperGroup):
    """The entry points of `GROUP`. Each is loaded when it is used, and only then."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Their names."""
        return sorted(entry_points(group=GROUP).names)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name, or None."""
        if cmd_name not in entry_points(group=GROUP).names:
            return None
        return typer.main.get_command(_loaded(entry_points(group=GROUP)[cmd_name]))


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
