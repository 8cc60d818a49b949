"""The console script. Imports neither typer nor rich, so that it can say when they are missing."""

import sys
from importlib import import_module
from importlib.util import find_spec

_NEEDED = ("rich", "typer")
CANNOT_RUN = 2
"""Exit code when something is not installed."""


def run() -> None:
    """Run the command with the arguments of this process, and exit."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        sys.stderr.write(
            f'deferred-tools needs {" and ".join(missing)}: pip install "deferred-tools[cli]"\n'
        )
        sys.exit(CANNOT_RUN)
    import_module("deferred_tools.cli.app").main()
