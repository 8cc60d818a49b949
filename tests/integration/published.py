"""Published MCP servers, as entries of `mcpServers` and as processes that serve HTTP."""

import os
import socket
import subprocess
import time
from contextlib import closing
from pathlib import Path
from typing import Any, Self

PATIENCE = 30.0
Entry = dict[str, Any]


def reference(npm: Path, server: str, *arguments: str, **env: str) -> Entry:
    """A reference server of npm's, over stdio."""
    file = npm / "node_modules/@modelcontextprotocol" / f"server-{server}" / "dist/index.js"
    return {"command": "node", "args": [str(file), *arguments], "env": env}


def offline_servers(npm: Path, folder: Path) -> dict[str, Entry]:
    """Those that do real work without a network, in `folder`."""
    folder.mkdir(exist_ok=True)
    return {
        "everything": reference(npm, "everything"),
        "files": reference(npm, "filesystem", str(folder)),
        "memory": reference(npm, "memory", MEMORY_FILE_PATH=str(folder / "memory.jsonl")),
    }


def grafana(python: Path, *arguments: str) -> Entry:
    """A server made in Go, of the newest protocol, in front of a Grafana that is not there."""
    env = {"GRAFANA_URL": "http://127.0.0.1:9", "GRAFANA_USAGE_STATS": "disabled"}
    return {"command": str(python / "bin/mcp-grafana"), "args": [*arguments], "env": env}


class OverHttp:
    """A server in a process of its own, at one address, which may be stopped and started."""

    def __init__(self, entry: Entry, log: Path) -> None:
        """Take how to run it, with `{port}` where it is told its port."""
        with closing(socket.socket()) as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}/mcp"
        self._command = [self._filled(part) for part in (entry["command"], *entry["args"])]
        self._env = {name: self._filled(value) for name, value in entry["env"].items()}
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(PATIENCE)

    def start(self) -> None:
        """Run it, and wait until it listens."""
        env = {**os.environ, **self._env}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(self._command, env=env, stdout=log, stderr=log)
        deadline = time.monotonic() + PATIENCE
        while self._process.poll() is None and time.monotonic() < deadline:
            with closing(socket.socket()) as probe:
                if probe.connect_ex(("127.0.0.1", self._port)) == 0:
                    return
            time.sleep(0.02)
        self.stop()
        raise RuntimeError(f"it does not listen: {self._log.read_text()}")

    def stop(self) -> None:
        """End it at once, as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def _filled(self, text: str) -> str:
        return text.replace("{port}", str(self._port))
