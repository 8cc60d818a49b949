"""Every story under examples/ verifies itself."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# LlamaIndex's own: it reads every attribute of its agents, and asks whether a run runs.
IGNORED = ["ignore::DeprecationWarning:inspect", "ignore:is_running called:DeprecationWarning"]
pytestmark = pytest.mark.thorough

STORIES = sorted(path.parent.name for path in ROOT.glob("examples/*/__main__.py"))


@pytest.mark.parametrize("story", STORIES)
def test_a_story_comes_true(story: str) -> None:
    filters = [part for one in ["error", *IGNORED] for part in ("-W", one)]
    command = [sys.executable, *filters, "-m", f"examples.{story}"]
    done = subprocess.run(
        command, cwd=ROOT, env=dict(os.environ), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout
