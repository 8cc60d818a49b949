"""The command `deferred-tools diff`: what changed of your tools since they were accepted."""

from pathlib import Path

import typer

from deferred_tools.cli.catalogue import AsJson
from deferred_tools.cli.changes import (
    LockFile,
    Partial,
    ServersFile,
    as_rows,
    as_text,
    offered,
)
from deferred_tools.cli.main import CANNOT_RUN
from deferred_tools.cli.output import show, show_json, tell
from deferred_tools.errors import DeferredToolsError
from deferred_tools.lock import ToolsLock
from deferred_tools.lock.changes import Kind, changes

_EXIT = {
    Kind.DOCS: 3,
    Kind.COMPATIBLE: 3,
    Kind.ADDED: 4,
    Kind.REMOVED: 4,
    Kind.ANNOTATIONS: 4,
    Kind.SERVER: 4,
    Kind.BREAKING: 5,
    Kind.SUSPICIOUS: 6,
}


def diff_command(
    *,
    config_file: ServersFile,
    lock_file: LockFile = Path("tools.lock"),
    partial: Partial = False,
    as_json: AsJson = False,
) -> None:
    """Show what changed of your servers' tools since they were accepted; writes nothing.

    The exit code tells the worst that was found. 0: nothing. 3: texts, or a schema that takes
    more than before. 4: tools added or removed, what a server says of a tool's effects, or how
    the server is reached. 5: a schema that breaks calls. 6: a text that may be there to mislead
    models. 2: it cannot run. 1: an error of its own.
    """
    try:
        accepted = ToolsLock.from_file(lock_file)
        present = offered(config_file, accepted, partial=partial)
    except DeferredToolsError as error:
        tell(str(error))
        raise typer.Exit(CANNOT_RUN) from error
    found = changes(accepted, present)
    if as_json:
        show_json(as_rows(found))
    else:
        show(as_text(found, len({*accepted.tools, *present.tools})))
    raise typer.Exit(max((_EXIT[kind] for change in found for kind in change.kinds), default=0))
