"""What the documents show is run."""

import re
from pathlib import Path
from typing import Any

import pytest

from deferred_tools import Limits, Settings
from deferred_tools.mapping import CallMapping

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    ROOT / "README.md",
    *sorted(ROOT.glob("docs/*.md")),
    *sorted(ROOT.glob("packages/*/*.md")),
]
BLOCK = re.compile(r"^```(python|yaml)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[Any]:
    """What the documents show in `language`."""
    return [
        pytest.param(path, text, id=f"{path.relative_to(ROOT)}-{at}")
        for path in DOCUMENTS
        for at, (found, text) in enumerate(BLOCK.findall(path.read_text()))
        if found == language
    ]


@pytest.mark.parametrize(("path", "code"), blocks("python"))
def test_a_python_block_runs(
    path: Path, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mcp.json").write_text('{"mcpServers": {}}')
    (tmp_path / "tools.yaml").write_text("disabled: []")
    exec(compile(code, str(path), "exec"), {"__name__": "__main__"})  # noqa: S102  # our own text


@pytest.mark.parametrize(("path", "text"), blocks("yaml"))
def test_a_yaml_block_is_a_file_of_settings(path: Path, text: str, tmp_path: Path) -> None:
    (tmp_path / "tools.yaml").write_text(text)
    settings = Settings.from_file(tmp_path / "tools.yaml")
    assert settings != Settings(), path
    for override in settings.overrides.values():
        CallMapping.compile(override.args, override.result, Limits())


def test_the_two_commands_are_what_ci_runs() -> None:
    readme, ci = (ROOT / "README.md").read_text(), (ROOT / ".ci/run").read_text()
    for command in ("uv run deferred-tools demo", "uv run pytest"):
        assert f"pip install uv && {command}" in readme
        assert command in ci


def test_links_between_documents_lead_somewhere() -> None:
    for path in DOCUMENTS:
        for target in re.findall(r"\]\((?!http|#)([^)#]+)", path.read_text()):
            assert (path.parent / target).exists(), f"{path}: {target}"
