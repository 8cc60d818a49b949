"""The parts of a request that asks for several things."""

import re

from deferred_tools.retrievers.stop_words import stop_words

CLAUSES = 16
"""Parts of one request that are looked at by themselves."""
CLAUSE_WORDS = 3
"""Words that say something in the shortest of them."""

_BORDER = re.compile(
    r"(?<=[.;!?])\s+|[\u3002\uff01\uff1b\uff1f]|\n+"
    r"|[,\u3001\uff0c]\s*(?:(?:and|then|also|or)\s)?"
    r"|\s(?:and then|then|and also|and|also|as well as|additionally|moreover|furthermore|plus)\s",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_STOP_WORDS = stop_words()


def parts(request: str) -> list[str]:
    """All of `request` in parts, as they are written; the words between parts are left out."""
    return _BORDER.split(request)


def clauses(request: str) -> list[str]:
    """The parts of `request` that ask for something; none if it asks for one thing."""
    telling = list(filter(is_clause, parts(request)))
    return telling[:CLAUSES] if len(telling) > 1 else []


def is_clause(part: str) -> bool:
    """Whether a part says enough. Scripts without spaces have about two letters a word."""
    words = (word for word in _WORD.findall(part.lower()) if word not in _STOP_WORDS)
    said = sum(1 if word.isascii() else (len(word) + 1) // 2 for word in words)
    return said >= CLAUSE_WORDS
