"""The commands `deferred-tools login` and `logout`: sign in at a server, and out again."""

import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import anyio
import typer

from deferred_tools.cli.catalogue import ServersFile
from deferred_tools.cli.editors import servers_file
from deferred_tools.cli.output import show_text, tell
from deferred_tools.cli.servers import chosen_servers
from deferred_tools.errors import DeferredToolsError, SourceUnavailableError
from deferred_tools.sources.mcp.oauth import OAuth
from deferred_tools.sources.mcp.oauth.keyring_store import KeyringTokenStore
from deferred_tools.sources.mcp.oauth.login import log_in, log_out
from deferred_tools.sources.mcp.oauth.loopback import Show, loopback
from deferred_tools.sources.mcp.server import McpServer

UNUSABLE = 1
"""Exit code when a file or the name cannot be used."""
NOT_SIGNED_IN = 4
"""Exit code when nobody signed in, the token cannot be kept, or the server cannot be reached."""

ServerName = Annotated[
    str, typer.Argument(metavar="SERVER", help="Which server, by its name in the file.")
]


def login_command(
    name: ServerName,
    *,
    config_file: ServersFile = None,
    scopes: Annotated[
        list[str] | None,
        typer.Option(
            "--scope",
            metavar="SCOPE",
            help="Ask for this, too. May be given more than once. Implies --again.",
        ),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Sign out first, to sign in as somebody else.")
    ] = False,
    browser: Annotated[
        bool, typer.Option(help="Open a browser. The address is printed in any case.")
    ] = True,
    seconds: Annotated[
        float, typer.Option("--wait", min=1, help="How long to wait for you, in seconds.")
    ] = 300.0,
) -> None:
    """Sign in at a server, for this and all later commands, and for hosts that use the keyring.

    The token is kept in the keyring of the operating system. Exit codes: 0 signed in, or the
    server wants nobody to, 1 a file or the name cannot be used, 2 it cannot run, 4 nobody signed
    in, there is no keyring or the server cannot be reached.
    """
    with _exit_codes():
        server = _server(config_file, name)
        redirect = loopback(_showing(server, browser=browser))
        oauth = OAuth(store=KeyringTokenStore(), redirect=redirect, sign_in_seconds=seconds)
        wanted = [scope for text in scopes or () for scope in text.split()]
        if anyio.run(partial(log_in, server, oauth, scopes=wanted, again=again)):
            show_text(f"Signed in at {server.name!r}.")
        else:
            show_text(f"{server.name!r} lets you in as it is. With --again you sign in anew.")


def logout_command(name: ServerName, *, config_file: ServersFile = None) -> None:
    """Sign out at a server: give its token back, and remove it from the keyring.

    Exit codes: as for `login`.
    """
    with _exit_codes():
        server = _server(config_file, name)
        anyio.run(log_out, server, OAuth(store=KeyringTokenStore()))
        show_text(f"Signed out at {server.name!r}.")


def _server(config_file: Path | None, name: str) -> McpServer:
    return chosen_servers(servers_file(config_file), [name]).servers[0]


def _showing(server: McpServer, *, browser: bool) -> Show:
    async def show(url: str) -> None:
        told = f"To sign in at {server.name!r}, open this address in a browser on this machine:"
        tell(f"{told}\n{url}", style="")
        if browser:
            # Some browsers return only when they are closed.
            await anyio.to_thread.run_sync(webbrowser.open, url, abandon_on_cancel=True)

    return show


@contextmanager
def _exit_codes() -> Iterator[None]:
    try:
        yield
    except DeferredToolsError as error:
        tell(str(error))
        away = isinstance(error, SourceUnavailableError)
        raise typer.Exit(NOT_SIGNED_IN if away else UNUSABLE) from error
