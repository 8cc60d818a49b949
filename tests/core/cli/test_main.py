"""The command, run as users run it: in a process of its own."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

RUN = "from deferred_tools.cli.main import run; run()"
COMMANDS = """
import typer
from deferred_tools.errors import ConfigurationError

def greet(name: str = "you") -> None:
    "Greet somebody."
    print(f"hello {name}")

def fail() -> None:
    "Fail."
    raise ConfigurationError("the file 'x.json' has no servers: add one")
"""
INSTALLED = {
    "sample.py": COMMANDS,
    "lacking.py": "import surely_not_installed",
    "broken.py": "raise RuntimeError('while importing')",
    "sample-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: sample\nVersion: 1.0\n"
    "Provides-Extra: lacking\n",
    "sample-1.0.dist-info/entry_points.txt": "[deferred_tools.commands]\ngreet = sample:greet\n"
    "fail = sample:fail\nlacking = lacking:command\nbroken = broken:command\n",
}


def command(*arguments: str, code: str = RUN, path: Path | None = None) -> tuple[int, str, str]:
    """Exit code, output and error output of `deferred-tools` with these arguments."""
    environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr or "RuntimeError: while importing" in done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder with a distribution that adds four commands, two of them unusable."""
    for name, text in INSTALLED.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return tmp_path


def test_the_version_is_told() -> None:
    code, output, _ = command("--version")
    assert code == 0
    assert output.startswith("deferred-tools ")


def test_an_unknown_command_is_refused() -> None:
    code, _, error = command("demonstrate")
    assert code == 2
    assert "No such command 'demonstrate'" in error


def test_another_distribution_adds_a_command_with_its_options(installed: Path) -> None:
    assert command("greet", "--name", "Ada", path=installed) == (0, "hello Ada\n", "")


def test_every_command_is_listed_even_one_that_cannot_be_loaded(installed: Path) -> None:
    code, output, _ = command("--help", path=installed)
    assert code == 0
    assert all(name in output for name in ("greet", "fail", "lacking", "broken", "demo"))
    assert "Greet somebody." in output


def test_help_loads_no_command(installed: Path) -> None:
    code = f"""import sys
try:
    {RUN}
finally:
    print(*({"mcp", "langchain_core", "sample"} & sys.modules.keys()))
"""
    _, output, error = command("--help", path=installed, code=code)
    assert output.endswith("\n\n")
    assert error == ""


def test_a_command_that_lacks_a_module_says_what_to_install(installed: Path) -> None:
    code, output, error = command("lacking", "--any", "option", path=installed)
    assert (code, output) == (2, "")
    assert "'surely_not_installed', which is not installed" in error
    assert 'pip install "sample[lacking]"' in error


def test_a_command_that_breaks_at_import_is_told_from_one_that_lacks_something(
    installed: Path,
) -> None:
    code, _, error = command("broken", path=installed)
    assert code == 2
    assert "'broken' is not available. It failed while it was loaded" in error


def test_our_own_errors_are_one_message_without_a_traceback(installed: Path) -> None:
    code, output, error = command("fail", path=installed)
    assert (code, output) == (1, "")
    assert error == "the file 'x.json' has no servers: add one\n"


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_without_the_extra_the_cure_is_one_line(missing: str) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None\n{RUN}"
    assert command("--help", code=code) == (
        2,
        "",
        f'deferred-tools needs {missing}: pip install "deferred-tools[cli]"\n',
    )


def test_every_command_of_ours_has_a_line_in_the_guide() -> None:
    root = Path(__file__).parents[3]
    project = tomllib.loads((root / "packages/core/pyproject.toml").read_text())
    guide = (root / "docs/commands.md").read_text().split("## ")[0]
    for name in project["project"]["entry-points"]["deferred_tools.commands"]:
        assert re.search(rf"^\|.*`{name}[ `].*\|", guide, re.MULTILINE), name
