"""The command `deferred-tools serve`: one MCP server in front of all that are configured.

Over standard input and output these are the protocol's alone; everything for people goes to the
error output.
"""

import signal
from collections.abc import AsyncIterable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Annotated

import anyio
import typer

from deferred_tools.cli.catalogue import SettingsFile, settings_of
from deferred_tools.cli.output import tell
from deferred_tools.cli.servers import all_servers
from deferred_tools.errors import DeferredToolsError, RegistryBuildError
from deferred_tools.gateway.http import OverHttp, address_of, listening
from deferred_tools.gateway.pinned import Pin, choose
from deferred_tools.gateway.stdio import OverStdio
from deferred_tools.hookspecs import hookimpl
from deferred_tools.limits import Limits
from deferred_tools.settings import Settings
from deferred_tools.sources.base import SourceState, SourceStatus
from deferred_tools.sources.mcp import McpServers
from deferred_tools.toolset import Toolset

CANNOT_SERVE = 1
"""Exit code when the tools cannot be put together, or the address cannot be had."""
_WAIT_SECONDS = 10.0


def serve_command(
    *,
    config_file: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="The JSON file with your mcpServers."),
    ] = None,
    settings_file: SettingsFile = None,
    http: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Serve over streamable HTTP at this address, path /mcp, instead of over standard "
            "input and output.",
        ),
    ] = None,
    wait: Annotated[
        float,
        typer.Option(
            min=0.1,
            help="Seconds to wait for servers that are starting before clients are served; slower "
            "ones join later.",
        ),
    ] = _WAIT_SECONDS,
    anybody: Annotated[
        bool,
        typer.Option(
            "--allow-anybody",
            help="With --http and no tokens in the settings: let everybody who can reach the "
            "address use every tool.",
        ),
    ] = False,
) -> None:
    """Serve all your tools as one MCP server: search, schemas, calls, and what you have pinned.

    Exit codes: 0 it was ended by its client or by a signal, 1 the tools cannot be put together
    or the address cannot be had, 2 it cannot run.
    """
    if config_file is None and settings_file is None:
        raise typer.BadParameter(
            "give a file of mcpServers, of settings, or both.", param_hint="--config"
        )
    at = _address(http) if http is not None else None
    try:
        servers = all_servers(config_file) if config_file else McpServers()
        settings = settings_of(settings_file)
        limits = Limits(startup_seconds=wait)
        toolset = Toolset(servers, settings=settings, limits=limits, plugins=[_Telling()])
        pins = [*_pins_of(servers), *_pins_in(settings)]
        # The address first: that somebody else has it should not be told after a minute.
        taken = listening(*at, settings.gateway, anybody=anybody) if at else nullcontext()
        with taken as listener, _ended_alike(), toolset:
            _check(toolset, pins)
            if listener is None:
                anyio.run(_serve, OverStdio(toolset, pins))
            else:
                tell(f"Serving at {address_of(listener)}", style="green")
                anyio.run(_serve, OverHttp(toolset, pins, settings.gateway, listener))
    except DeferredToolsError as error:
        tell(str(error))
        raise typer.Exit(CANNOT_SERVE) from error
    except KeyboardInterrupt:  # while the servers were starting; they have been ended
        raise typer.Exit from None


async def _serve(over: OverStdio | OverHttp) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_stop_on, signals, over, tasks.cancel_scope)
            tasks.start_soon(over.gateway.follow)
            await over.run()
            tasks.cancel_scope.cancel()


async def _stop_on(
    signals: AsyncIterable[signal.Signals], over: OverStdio | OverHttp, rest: anyio.CancelScope
) -> None:
    async for _ in signals:
        await over.stop(rest)


@contextmanager
def _ended_alike() -> Iterator[None]:
    """SIGTERM as SIGINT, so that neither leaves a server running."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _address(given: str) -> tuple[str, int]:
    """Host and port of `HOST:PORT`, also of `[::1]:PORT`."""
    host, colon, port = given.rpartition(":")
    if not (colon and host and port.isascii() and port.isdecimal() and int(port) < 1 << 16):
        raise typer.BadParameter("must be HOST:PORT, such as 127.0.0.1:8000", param_hint="'--http'")
    return host.removeprefix("[").removesuffix("]"), int(port)


def _pins_of(servers: McpServers) -> Iterator[Pin]:
    for server in servers.servers:
        for tool in server.pinned:
            yield Pin(server.namespace, tool, f"server {server.name!r}, pinned")


def _pins_in(settings: Settings) -> Iterator[Pin]:
    for at, text in enumerate(settings.gateway.pinned):
        server, _, tool = text.partition("/")
        yield Pin(server, tool, settings.where("gateway", "pinned", at))


def _check(toolset: Toolset, pins: list[Pin]) -> None:
    """Tell what should be read before it starts.

    Raises:
        RegistryBuildError: What is pinned is not there, or not clear.
    """
    registry = toolset.registry
    chosen = choose(registry, pins)
    if chosen.problems:
        raise RegistryBuildError(chosen.problems)
    for warning in (*registry.warnings, *chosen.warnings):
        tell(warning, style="yellow")


class _Telling:
    """Says how each server is doing, when that has changed. A plugin, as any."""

    def __init__(self) -> None:
        self._told: dict[str, str] = {}

    @hookimpl
    def deferred_tools_source_changed(self, source: str, state: SourceState) -> None:
        """Take a new state; called in the toolset's own thread."""
        if state.status is SourceStatus.CONNECTING:
            return
        ready = state.status is SourceStatus.READY
        more = f"{len(state.tools):,} tool(s)" if ready else state.reason
        line = f"{source}: {state.status.value}, {more}"
        if self._told.get(source) != line:
            self._told[source] = line
            tell(line, style="green" if ready else "yellow")
