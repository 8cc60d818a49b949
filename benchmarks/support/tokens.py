"""Tokens as a real tokenizer counts them: o200k_base, bundled in the package `bpe-openai`."""

from collections.abc import Callable
from importlib import import_module

_CHUNK = 50_000
"""Characters that it is given at once; it refuses texts of a megabyte."""


def counter() -> Callable[[str], int] | None:
    """Counts the tokens of a text; None where the tokenizer is not installed."""
    try:
        encoding = import_module("bpe_openai").get_encoding("o200k_base")
    except ModuleNotFoundError:
        return None

    def count(text: str) -> int:
        return sum(len(encoding.encode_ordinary(chunk)) for chunk in _chunks(text))

    return count


def _chunks(text: str) -> list[str]:
    """`text` cut after line breaks, where a cut costs a token at most."""
    chunks = [""]
    for line in text.splitlines(keepends=True):
        if len(chunks[-1]) + len(line) > _CHUNK:
            chunks.append("")
        chunks[-1] += line
    return chunks
