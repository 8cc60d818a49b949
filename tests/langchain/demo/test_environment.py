"""The environment beside ours, made for real; without network, from a wheel made here."""

import subprocess
import zipfile
from pathlib import Path

import pytest

from deferred_tools.errors import HostError
from langchain_deferred_tools.demo.environment import cache_folder, existing, make

METADATA = "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


@pytest.fixture
def wheel(tmp_path: Path) -> str:
    """A package with one module."""
    file = tmp_path / "tiny-1.0-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("tiny.py", "print('it runs')")
        archive.writestr("tiny-1.0.dist-info/METADATA", METADATA)
        archive.writestr("tiny-1.0.dist-info/WHEEL", WHEEL)
        archive.writestr("tiny-1.0.dist-info/RECORD", "")
    return str(file)


def test_an_environment_is_made_once_and_runs_what_is_in_it(tmp_path: Path, wheel: str) -> None:
    cache = tmp_path / "cache"
    assert existing(cache, [wheel]) is None
    python = make(cache, [wheel])
    assert existing(cache, [wheel]) == python
    ran = subprocess.run([python, "-m", "tiny"], capture_output=True, text=True, check=True)
    assert ran.stdout == "it runs\n"
    assert [path.name for path in cache.iterdir()] == [python.parents[1].name]
    assert existing(cache, [wheel, "more"]) is None


def test_one_that_cannot_be_made_leaves_nothing_and_says_why(tmp_path: Path) -> None:
    absent = str(tmp_path / "absent-1.0-py3-none-any.whl")
    with pytest.raises(HostError, match="absent"):
        make(tmp_path / "cache", [absent])
    assert list((tmp_path / "cache").iterdir()) == []


def test_the_cache_is_where_the_user_keeps_caches(tmp_path: Path) -> None:
    places = {"XDG_CACHE_HOME": str(tmp_path), "LOCALAPPDATA": str(tmp_path)}
    assert cache_folder(places) == tmp_path / "deferred-tools"
