"""Ids for calls that the wire gives none. Knows nothing of calls."""

import re
import secrets

from deferred_tools.errors import ConfigurationError

# Providers take ids of letters, digits, `_` and `-`, some of them at most 40 characters.
_NAMESPACE = re.compile(r"[A-Za-z0-9]{1,24}")
_RANDOM_BYTES = 8


class MintedIds:
    """One counter in a reserved namespace: `call_<namespace>_<n>`.

    An id of that form is never taken from the wire (see `owns`), so that no minted id equals a
    wire id, not even one that comes later.
    """

    def __init__(self, namespace: str | None = None) -> None:
        """Take the namespace, up to 24 letters and digits; a random one if there is none.

        One that is given makes ids repeatable. It must differ from message to message where ids
        are looked up in a whole conversation.

        Raises:
            ConfigurationError: The namespace has other characters or is too long.
        """
        if namespace is None:
            namespace = secrets.token_hex(_RANDOM_BYTES)
        if not _NAMESPACE.fullmatch(namespace):
            raise ConfigurationError(
                f"A namespace of minted ids must be 1 to 24 letters and digits, not {namespace!r}"
            )
        self._prefix = f"call_{namespace}_"
        self._count = 0

    def mint(self) -> str:
        """An id that was not given before."""
        minted = f"{self._prefix}{self._count}"
        self._count += 1
        return minted

    def owns(self, wire_id: str) -> bool:
        """Whether an id from the wire is in the reserved namespace, and so cannot be used."""
        return wire_id.startswith(self._prefix)
