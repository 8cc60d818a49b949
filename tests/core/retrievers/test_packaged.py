"""The packaged model is there, or what to install is said."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from deferred_tools.errors import ConfigurationError
from deferred_tools.retrievers import packaged
from deferred_tools.retrievers.packaged import packaged_vectors


def test_what_is_missing_is_said_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packaged, "_PACKAGES", ("numpy", "not_there"))
    with pytest.raises(ConfigurationError, match=r"not_there.*deferred-tools\[embeddings\]"):
        packaged_vectors()


def test_nothing_is_loaded_before_it_is_needed() -> None:
    code = """
import sys
from deferred_tools.retrievers.packaged import packaged_vectors
print("numpy" in sys.modules)
packaged_vectors()
print("onnxruntime" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout.split(), done.stderr) == (["False", "False"], "")


def test_vectors_are_kept_in_the_users_folder_and_the_runtime_tells_nobody(tmp_path: Path) -> None:
    # It would keep an id of the device to tell its vendor beside them.
    home = {"XDG_CACHE_HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path), "HOME": str(tmp_path)}
    code = """
from deferred_tools.retrievers.packaged import packaged_vectors
packaged_vectors().documents(["a"])
"""
    subprocess.run([sys.executable, "-c", code], env=os.environ | home, check=True)
    assert [path.suffix for path in tmp_path.rglob("*") if path.is_file()] == [".vectors"]
