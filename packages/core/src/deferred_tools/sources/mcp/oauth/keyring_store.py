"""Tokens in the keyring of the operating system, through the package `keyring`."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import import_module
from typing import Any, TypeVar

import anyio
from mcp.client.auth import TokenStorage
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import BaseModel, ValidationError

from deferred_tools.errors import ConfigurationError

_SERVICE = "deferred-tools"
_TOKENS = "tokens"
_CLIENT = "client"
# Below are what `keyring` falls back to when there is nothing, and files of plain text.
_LEAST_PRIORITY = 1

Record = TypeVar("Record", bound=BaseModel)


class KeyringTokenStore:
    """Keeps tokens where the operating system keeps passwords; looks for that at first use.

    Every use may raise ConfigurationError: the package is missing, or there is no keyring that
    keeps secrets safe.
    """

    def at(self, key: str) -> TokenStorage:
        """The storage for this key."""
        return _Kept(self, key)

    async def forget(self, key: str) -> None:
        """Remove what is kept under this key."""
        for part in (_TOKENS, _CLIENT):
            name = f"{key} {part}"
            await _apart(partial(self._remove, name))

    @cached_property
    def backend(self) -> Any:
        """The keyring itself, as the package `keyring` has it."""
        return _strong_keyring()

    def _remove(self, name: str) -> None:
        if self.backend.get_password(_SERVICE, name) is not None:
            self.backend.delete_password(_SERVICE, name)


@dataclass(frozen=True, slots=True)
class _Kept:
    store: KeyringTokenStore
    key: str

    async def get_tokens(self) -> OAuthToken | None:
        return await self._read(_TOKENS, OAuthToken)

    async def set_tokens(self, tokens: OAuthToken) -> None:
        await self._write(_TOKENS, tokens)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return await self._read(_CLIENT, OAuthClientInformationFull)

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        await self._write(_CLIENT, client_info)

    async def _read(self, part: str, kind: type[Record]) -> Record | None:
        name = f"{self.key} {part}"
        text = await _apart(lambda: self.store.backend.get_password(_SERVICE, name))
        try:
            return None if text is None else kind.model_validate_json(text)
        except ValidationError:
            return None

    async def _write(self, part: str, record: BaseModel) -> None:
        text = record.model_dump_json(exclude_none=True)
        name = f"{self.key} {part}"
        await _apart(lambda: self.store.backend.set_password(_SERVICE, name, text))


async def _apart(work: Callable[[], Any]) -> Any:
    # A keyring may ask the person to unlock it.
    return await anyio.to_thread.run_sync(work, abandon_on_cancel=True)


def _strong_keyring() -> Any:
    try:
        keyring = import_module("keyring")
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"tokens are kept with the module {error.name!r}, which is not installed: "
            'pip install "deferred-tools[keyring]"'
        ) from error
    chosen = keyring.get_keyring()
    # A chain keeps things in whichever takes them, perhaps a weak one.
    for backend in getattr(chosen, "backends", [chosen]):
        if backend.priority >= _LEAST_PRIORITY:
            return backend
    raise ConfigurationError(
        "there is no keyring on this machine that can keep tokens; start one, such as the "
        "Secret Service (gnome-keyring, KWallet), or give `OAuth` a store of your own"
    )
