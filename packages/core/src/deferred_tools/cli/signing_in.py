"""How commands sign in: with what `deferred-tools login` has left in the keyring."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from deferred_tools.sources.mcp import OAuth


def kept_sign_ins() -> "OAuth":
    """For commands that ask nobody. The keyring is looked into when a server is reached by HTTP."""
    # A command over a file needs neither the SDK nor the second that it takes to load.
    from deferred_tools.sources.mcp import OAuth  # noqa: PLC0415
    from deferred_tools.sources.mcp.oauth.keyring_store import KeyringTokenStore  # noqa: PLC0415

    return OAuth(store=KeyringTokenStore())
