"""What the documents show is run."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    ROOT / "README.md",
    *sorted(ROOT.glob("docs/*.md")),
    *sorted(ROOT.glob("packages/*/*.md")),
]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCKS = [
    pytest.param(path, code, id=f"{path.relative_to(ROOT)}-{at}")
    for path in DOCUMENTS
    for at, code in enumerate(BLOCK.findall(path.read_text()))
]


@pytest.mark.parametrize(("path", "code"), BLOCKS)
def test_a_python_block_runs(
    path: Path, code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mcp.json").write_text('{"mcpServers": {}}')
    exec(compile(code, str(path), "exec"), {"__name__": "__main__"})  # noqa: S102  # our own text


def test_the_two_commands_are_what_ci_runs() -> None:
    readme, ci = (ROOT / "README.md").read_text(), (ROOT / ".ci/run").read_text()
    for command in ("uv run deferred-tools demo", "uv run pytest"):
        assert f"pip install uv && {command}" in readme
        assert command in ci


def test_links_between_documents_lead_somewhere() -> None:
    for path in DOCUMENTS:
        for target in re.findall(r"\]\((?!http|#)([^)#]+)", path.read_text()):
            assert (path.parent / target).exists(), f"{path}: {target}"
