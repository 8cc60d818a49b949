"""The demo as a user runs it, and what it is made of."""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from deferred_tools.errors import ConfigurationError
from langchain_deferred_tools.demo.command import Tools, demo
from tests.support.shared import shared_folder

pytestmark = pytest.mark.thorough

KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_API_KEY", "MISTRAL_API_KEY")
RUN = "from deferred_tools.cli.main import run; run()"


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run of the command."""

    code: int
    output: str
    errors: str
    home: Path

    @property
    def words(self) -> str:
        """The output without its line breaks."""
        return " ".join(self.output.split())


def environment_at(home: Path) -> dict[str, str]:
    """This environment without keys, with a home that is empty and can hold no cache."""
    (home / "tmp").mkdir(parents=True)
    (home / "no-cache").write_text("a file where the cache folder would be")
    return {k: v for k, v in os.environ.items() if k not in KEYS} | {
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "XDG_CACHE_HOME": str(home / "no-cache"),
        "LOCALAPPDATA": str(home / "no-cache"),
    }


def run(home: Path, *arguments: str, **variables: str) -> Run:
    """Run the demo to its end."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", RUN, "demo", "--plain", *arguments],
        env=environment_at(home) | variables,
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
    )
    return Run(code=done.returncode, output=done.stdout, errors=done.stderr, home=home)


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run with the servers that share our environment: no other can be made here."""
    return run(tmp_path_factory.mktemp("home"))


def test_the_demo_searches_binds_calls_and_answers(servers: Run) -> None:
    assert (servers.code, servers.errors) == (0, "")
    told = [
        "In Tokyo it is 1",  # 16:00 or 17:00, by the season
        "The repository has 3 commits, latest first: Add Lima; Add Tokyo; Start a list of cities.",
        "There are 52 days between the two dates.",
    ]
    assert all(sentence in servers.words for sentence in told)
    at = [servers.output.index(f"model   {name}(") for name in ("tool_search", "git__git_log")]
    assert at == sorted(at)


def test_the_demo_says_that_a_script_plays_the_model(servers: Run) -> None:
    assert "No API key found" in servers.output
    assert "a scripted model plays the model's part" in servers.words


def test_servers_that_cannot_be_installed_cost_only_themselves(servers: Run) -> None:
    assert "Left out: mcp-server-calculator and mcp-server-sqlite" in servers.words
    assert "3 sources, 21 tools" in servers.output


def test_plain_output_has_no_control_codes_and_a_fixed_width(servers: Run) -> None:
    assert "\x1b" not in servers.output
    assert max(map(len, servers.output.splitlines())) <= 100


def test_the_demo_leaves_no_process_and_no_file_behind(servers: Run) -> None:
    assert list((servers.home / "tmp").iterdir()) == []
    assert processes_at(servers.home) == []


def processes_at(home: Path) -> list[str]:
    """Processes whose HOME is `home`, which every MCP server is given; needs /proc."""
    found = []
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"HOME={home}\0".encode() in environ.read_bytes():
                found.append(environ.parent.name)
        except OSError:
            continue  # it has ended, or is another user's
    return found


def test_with_the_corpus_the_tool_is_found_and_its_call_refused(tmp_path: Path) -> None:
    done = run(tmp_path, "--tools", "corpus", DEFERRED_TOOLS_SHARED=str(shared_folder()))
    assert (done.code, done.errors) == (0, "")
    assert "5,549 tools" in done.output
    assert 'model github__create_issue(owner="octo"' in done.words
    assert "Refused: github__create_issue is only a definition in this demo." in done.words
    assert "99.9%" in done.output


def test_an_interrupted_demo_ends_quietly_and_leaves_nothing(tmp_path: Path) -> None:
    running = subprocess.Popen(
        [sys.executable, "-c", RUN, "demo", "--plain", "--model", "scripted"],
        env=environment_at(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    assert next(running.stdout).startswith("As you asked")
    running.send_signal(signal.SIGINT)
    _, errors = running.communicate(timeout=60)
    assert running.returncode not in {0, 1}
    assert errors == ""
    assert list((tmp_path / "tmp").iterdir()) == []
    assert processes_at(tmp_path) == []


def test_without_the_corpus_the_demo_says_where_it_looked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEFERRED_TOOLS_SHARED", str(tmp_path))
    with pytest.raises(ConfigurationError) as raised:
        demo(tools=Tools.CORPUS, model="scripted")
    assert str(tmp_path / "corpus" / "mcp_tools.jsonl.gz") in str(raised.value)
    assert "DEFERRED_TOOLS_SHARED" in str(raised.value)


def test_a_question_of_ones_own_needs_a_real_model() -> None:
    with pytest.raises(ConfigurationError, match="`--model`"):
        demo(model="scripted", question="Who are you?")
