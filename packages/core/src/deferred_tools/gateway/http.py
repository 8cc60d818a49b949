"""The gateway over streamable HTTP: stateless, so any replica answers any request."""

import ipaddress
import socket
from collections.abc import Sequence

import anyio
import uvicorn
from mcp.server.transport_security import TransportSecuritySettings

from deferred_tools.errors import ConfigurationError
from deferred_tools.gateway.desk import Conversation
from deferred_tools.gateway.pinned import Pin
from deferred_tools.gateway.server import Context, Gateway
from deferred_tools.gateway.tokens import CALLER, Doorkeeper
from deferred_tools.policy import Caller
from deferred_tools.settings import GatewaySettings
from deferred_tools.toolset import Toolset

PATH = "/mcp"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_BACKLOG = 2048
_DRAIN_SECONDS = 3


def listening(host: str, port: int, settings: GatewaySettings, *, anybody: bool) -> socket.socket:
    """A socket at an address; port 0 for any that is free.

    Raises:
        ConfigurationError: It cannot be had, or others could reach it and nobody has said who.
    """
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        if not (settings.tokens or anybody or ipaddress.ip_address(address[0]).is_loopback):
            raise ConfigurationError(
                f"{host} can be reached from other machines, and everybody there could use every "
                "tool. Set `gateway.tokens` in the settings, listen on 127.0.0.1, or say "
                "--allow-anybody"
            )
        made = socket.create_server(address[:2], family=family, backlog=_BACKLOG)
    except (OSError, UnicodeError) as error:
        raise ConfigurationError(
            f"{host}:{port} cannot be listened on ({error}); choose another address or end what "
            "uses it"
        ) from None
    # Said to be TCP: else asyncio leaves Nagle's algorithm on, and an answer takes 40 ms.
    return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, fileno=made.detach())


class OverHttp:
    """Serves whoever comes to a socket."""

    def __init__(
        self,
        toolset: Toolset,
        pins: Sequence[Pin],
        settings: GatewaySettings,
        listener: socket.socket,
    ) -> None:
        self.gateway = Gateway(toolset, pins, _sender, lasting=False)
        app = self.gateway.server.streamable_http_app(
            streamable_http_path=PATH,
            stateless_http=True,
            transport_security=_security(listener, settings),
            max_request_body_size=toolset.limits.arguments_bytes,
        )
        tokens = {known: client.caller for known, client in settings.tokens.items()}
        config = uvicorn.Config(
            Doorkeeper(app, tokens),
            log_config=None,
            access_log=False,
            ws="none",
            lifespan="on",
            server_header=False,
            timeout_graceful_shutdown=_DRAIN_SECONDS,
        )
        self._listener = listener
        self._server = uvicorn.Server(config)

    async def run(self) -> None:
        """Serve until stopped."""
        await self._server.serve(sockets=[self._listener])

    async def stop(self, _rest: anyio.CancelScope) -> None:
        """Take no more requests, and let those that run end soon."""
        self.gateway.hang_up()
        self._server.should_exit = True


def address_of(listener: socket.socket) -> str:
    """Where clients find it."""
    host, port = listener.getsockname()[:2]
    return f"http://{_in_url(host)}:{port}{PATH}"


def _sender(ctx: Context) -> Conversation:
    # Nothing is remembered between requests, and nothing that a client sends could be believed.
    return Conversation(ctx.request.scope[CALLER] if ctx.request else Caller.anonymous())


def _security(listener: socket.socket, settings: GatewaySettings) -> TransportSecuritySettings:
    """Against pages in a browser that give their own name the gateway's address.

    A page has no token, so with tokens, on other addresses than this machine's own, names need
    not be known.
    """
    host, port = listener.getsockname()[:2]
    own = () if ipaddress.ip_address(host).is_unspecified else (_in_url(host),)
    names = dict.fromkeys((*_LOOPBACK, *own))
    hosts = [f"{name}:{port}" for name in names] + list(settings.hosts)
    hosts += [f"{name}:*" for name in settings.hosts]
    needed = bool(settings.hosts) or not settings.tokens or ipaddress.ip_address(host).is_loopback
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=needed,
        allowed_hosts=hosts,
        allowed_origins=[f"{scheme}://{name}" for scheme in ("http", "https") for name in hosts],
    )


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
