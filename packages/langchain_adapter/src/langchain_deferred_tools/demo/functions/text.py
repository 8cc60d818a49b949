"""Small work on text."""

import re
import unicodedata


def count_words(text: str) -> dict[str, int]:
    """Count the characters, words and lines of a text."""
    return {"characters": len(text), "words": len(text.split()), "lines": len(text.splitlines())}


def slugify(title: str) -> str:
    """Turn a title into a slug for a URL or a file name: lower case, ASCII, with hyphens."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")
