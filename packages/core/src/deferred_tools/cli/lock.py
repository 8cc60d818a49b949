"""The command `deferred-tools lock`: accept the tools of your servers as they are now."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from deferred_tools.cli.catalogue import AsJson
from deferred_tools.cli.changes import LockFile, Partial, ServersFile, as_rows, as_text, offered
from deferred_tools.cli.main import CANNOT_RUN
from deferred_tools.cli.output import show, show_json, tell
from deferred_tools.errors import ConfigurationError, DeferredToolsError
from deferred_tools.lock import ToolsLock
from deferred_tools.lock.changes import Change, changes


def lock_command(
    *,
    config_file: ServersFile,
    lock_file: LockFile = Path("tools.lock"),
    accept: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID",
            help="Accept what changed of this tool only, by the id that `diff` shows. May be "
            "given more than once.",
        ),
    ] = None,
    partial: Partial = False,
    as_json: AsJson = False,
) -> None:
    """Accept the tools of your servers as they are now, and say what changed.

    A tool that is not in the lock file, or not as it is there, is withheld at run time.
    """
    try:
        accepted = ToolsLock.from_file(lock_file) if lock_file.exists() else ToolsLock()
        present = offered(config_file, accepted, partial=partial)
        if accept is not None:
            _check(accept, changes(accepted, present))
            present = accepted.taking(present, accept)
        found = changes(accepted, present)
        present.write(lock_file)
    except DeferredToolsError as error:
        tell(str(error))
        raise typer.Exit(CANNOT_RUN) from error
    if as_json:
        show_json(as_rows(found))
    else:
        show(as_text(found, len(present.tools)))


def _check(wanted: Sequence[str], found: Sequence[Change]) -> None:
    changed = [change.id for change in found]
    for id_ in wanted:
        if id_ not in changed:
            raise ConfigurationError(
                f"Nothing changed of a tool {id_!r}, so nothing was accepted. Changed are: "
                f"{', '.join(map(repr, changed)) or 'none'}."
            )
