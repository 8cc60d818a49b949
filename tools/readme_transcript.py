"""Puts the demo's transcript into the README: `uv run python tools/readme_transcript.py`."""

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
START, END = "<!-- transcript: made by tools/readme_transcript.py -->", "<!-- end of transcript -->"


def main() -> int:
    """Run the demo and write what it said."""
    command = [sys.executable, "-c", "from deferred_tools.cli.main import run; run()"]
    done = subprocess.run(  # noqa: S603  # our own command
        [*command, "demo", "--plain", "--model", "scripted"],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.stderr.write(done.stdout + done.stderr)
        return done.returncode
    said = "\n".join(line.rstrip() for line in done.stdout.splitlines())
    before, agent = re.split(r"\n(?=─+ The agent ─+\n)", said, maxsplit=1)
    text = README.read_text(encoding="utf-8")
    head, rest = text.split(START)
    _, tail = rest.split(END)
    shown = (
        f"{START}\n```\n{agent}\n```\n\n<details><summary>What it shows before: servers, the block "
        f"in the prompt, tokens</summary>\n\n```\n{before}\n```\n\n</details>\n{END}"
    )
    README.write_text(f"{head}{shown}{tail}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
