"""Where the shared data is, if this machine has it."""

import os
from pathlib import Path

import pytest


def shared_folder() -> Path:
    """The shared folder; skips the test where it is absent."""
    default = Path(__file__).parents[2].parent / "shared"
    folder = Path(os.environ.get("DEFERRED_TOOLS_SHARED", default))
    if not folder.is_dir():
        pytest.skip(f"no shared data at {folder} (set DEFERRED_TOOLS_SHARED)")
    return folder
