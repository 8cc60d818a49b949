"""Tokens as a real tokenizer counts them: o200k_base, bundled in the package `bpe-openai`."""

from collections.abc import Callable
from importlib import import_module

_CHUNK = 100_000
"""Characters that it is given at once: it refuses a megabyte. A cut costs a token at most."""


def counter() -> Callable[[str], int] | None:
    """Counts the tokens of a text; None where the tokenizer is not installed."""
    try:
        encoding = import_module("bpe_openai").get_encoding("o200k_base")
    except ModuleNotFoundError:
        return None

    def count(text: str) -> int:
        chunks = (text[at : at + _CHUNK] for at in range(0, len(text), _CHUNK))
        return sum(len(encoding.encode_ordinary(chunk)) for chunk in chunks)

    return count
