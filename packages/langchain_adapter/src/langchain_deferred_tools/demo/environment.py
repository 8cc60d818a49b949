"""A Python environment beside ours, for servers that need other versions than we do.

Made once, in the user's cache folder, named for what is in it.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from deferred_tools.errors import HostError
from deferred_tools.spec import one_line


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Where this user's programs keep what they can make again."""
    if os.name == "nt":
        base = Path(environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        base = Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "deferred-tools"


def existing(cache: Path, requirements: Sequence[str]) -> Path | None:
    """The interpreter of the environment that holds `requirements`, or None before `make`."""
    python = _python(_home(cache, requirements))
    return python if python.exists() else None


def make(cache: Path, requirements: Sequence[str]) -> Path:
    """Make an environment with `requirements` and give its interpreter. Whole or not at all.

    Raises:
        HostError: It cannot be made: no network, no such package, no space.
    """
    home = _home(cache, requirements)
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache, ignore_cleanup_errors=True) as scratch:
            made = _made(Path(scratch), requirements)
            try:
                made.rename(home)
            except OSError:
                if existing(cache, requirements) is None:
                    raise
                # Somebody else was faster, with the same.
    except subprocess.CalledProcessError as error:
        raise HostError(_last_words(error)) from None
    except OSError as error:
        raise HostError(f"{type(error).__name__}: {error.strerror}") from None
    return _python(home)


def _made(scratch: Path, requirements: Sequence[str]) -> Path:
    folder = scratch / "environment"
    python = str(_python(folder))
    # uv takes a tenth of the time; whoever has it has set it up for their network too.
    if uv := shutil.which("uv"):
        install = [uv, "pip", "install", "--python", python]
    else:
        install = [sys.executable, "-m", "pip", "--python", python, "install"]
    create = [sys.executable, "-m", "venv", "--without-pip", str(folder)]
    for command in (create, [*install, "--quiet", *requirements]):
        # What is interrupted goes with our own folder. The words are ours, no shell reads them.
        environ = {**os.environ, "TMPDIR": str(scratch)}
        subprocess.run(command, check=True, capture_output=True, text=True, env=environ)  # noqa: S603
    return folder


def _home(cache: Path, requirements: Sequence[str]) -> Path:
    # Another interpreter, or the same one elsewhere, needs another environment.
    told = "\0".join([sys.version, sys.base_prefix, *sorted(requirements)])
    return cache / f"servers-{hashlib.sha256(told.encode()).hexdigest()[:16]}"


def _python(folder: Path) -> Path:
    return folder / "Scripts" / "python.exe" if os.name == "nt" else folder / "bin" / "python"


def _last_words(error: subprocess.CalledProcessError) -> str:
    lines = f"{error.stdout}\n{error.stderr}".strip().splitlines()
    # Long messages are wrapped: what comes after the line belongs to it.
    at = [number for number, line in enumerate(lines) if "error" in line.lower()][-1:]
    told = " ".join(lines[at[0] :] if at else lines[-1:])
    return one_line(told, 300) or f"exit code {error.returncode}"
