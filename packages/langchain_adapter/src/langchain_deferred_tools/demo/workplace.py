"""Something real for the servers to work on: a small git repository and a SQLite file."""

import os
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

_COMMITS = (
    ("Start a list of cities", "Berlin\n"),
    ("Add Tokyo", "Berlin\nTokyo\n"),
    ("Add Lima", "Berlin\nTokyo\nLima\n"),
)
_ORDERS = (("Ada", 3, "open"), ("Linus", 1, "paid"), ("Grace", 7, "open"))


def make_repository(folder: Path) -> str:
    """Make a repository with a few commits; gives why it could not be made, or ""."""
    when = "2026-11-02T09:00:00+00:00"
    environment = {
        **os.environ,
        # The user's own settings (signing, hooks, templates) are not for this one.
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Demo",
        "GIT_AUTHOR_EMAIL": "demo@example.com",
        "GIT_AUTHOR_DATE": when,
        "GIT_COMMITTER_NAME": "Demo",
        "GIT_COMMITTER_EMAIL": "demo@example.com",
        "GIT_COMMITTER_DATE": when,
    }

    def git(*arguments: str) -> None:
        command = ["git", "-C", str(folder), *arguments]
        # The words are ours, and no shell reads them.
        subprocess.run(command, check=True, capture_output=True, env=environment)  # noqa: S603

    folder.mkdir()
    try:
        git("init", "--quiet")
        for message, content in _COMMITS:
            (folder / "cities.txt").write_text(content, encoding="utf-8")
            git("add", "cities.txt")
            git("commit", "--quiet", "--message", message)
    except FileNotFoundError:
        return "git is not installed"
    except subprocess.CalledProcessError as error:
        return f"`git {error.cmd[3]}` failed with exit code {error.returncode}"
    return ""


def make_database(file: Path) -> None:
    """Make a SQLite file with one table."""
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("CREATE TABLE orders (customer TEXT, quantity INTEGER, state TEXT)")
        database.executemany("INSERT INTO orders VALUES (?, ?, ?)", _ORDERS)
