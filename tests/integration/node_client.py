"""Clients of the official TypeScript SDK, in processes of their own (see `client.mjs`)."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).with_name("client.mjs")


@dataclass(frozen=True)
class Kind:
    """Which client: the generation of its SDK and of the protocol that it speaks."""

    sdk: str
    mode: str

    def __str__(self) -> str:
        return f"sdk {self.sdk}, {self.mode}"


KINDS = (Kind("1", "legacy"), Kind("2", "auto"))


class ClientError(Exception):
    """What the client threw."""


@dataclass
class NodeClient:
    """A connected client; it has one thing to do at a time."""

    process: subprocess.Popen[str]
    changes: list[list[str]] = field(default_factory=list)
    """Names of the tools, each time that it was told that they changed."""
    progress: list[float] = field(default_factory=list)
    """How far its calls were, each time that it was told."""

    def ask(self, method: str, argument: Any = None) -> Any:
        """Call a method of the client.

        Raises:
            ClientError: It threw.
        """
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([method, argument]) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def answer(self) -> Any:
        """The next answer.

        Raises:
            ClientError: The client threw.
        """
        while not (line := self._line()).keys() & {"result", "error"}:
            self._note(line)
        if "error" in line:
            raise ClientError(line["error"])
        return line["result"]

    def wait_for_change(self) -> list[str]:
        """The names of the tools when they next change."""
        while not self.changes:
            self._note(self._line())
        return self.changes.pop(0)

    def names(self) -> list[str]:
        """The tools that it lists."""
        return [tool["name"] for tool in self.ask("listTools")["tools"]]

    def call(self, tool: str, **arguments: Any) -> Any:
        """A tool's result."""
        return self.ask("callTool", {"name": tool, "arguments": arguments})

    def _note(self, line: dict[str, Any]) -> None:
        if "changed" in line:
            self.changes.append(line["changed"])
        else:
            self.progress.append(line["progress"]["progress"])

    def _line(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        text = self.process.stdout.readline()
        assert text, "the client has ended"
        line: dict[str, Any] = json.loads(text)
        return line


@contextmanager
def connected(npm: Path, kind: Kind, to: dict[str, Any]) -> Iterator[NodeClient]:
    """A client of what `to` says: a command with arguments, or an address with headers.

    Raises:
        ClientError: It could not connect.
    """
    argument = json.dumps({"sdk": kind.sdk, "mode": kind.mode, "to": to})
    pipe = subprocess.PIPE
    with subprocess.Popen(
        ["node", str(SCRIPT), argument], cwd=npm, stdin=pipe, stdout=pipe, text=True
    ) as process:
        client = NodeClient(process)
        client.answer()
        yield client
