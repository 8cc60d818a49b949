"""Requests with one slip of the fingers each, always the same ones."""

import random
import re
from collections.abc import Sequence
from dataclasses import replace

from deferred_tools.evaluation.data import Query

LETTERS = 5
"""A word of so many letters may be mistyped; in shorter ones a slip often makes another word."""
_WORD = re.compile(rf"[A-Za-z]{{{LETTERS},}}")
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEIGHBOURS = {
    key: row[max(place - 1, 0) : place] + row[place + 1 : place + 2]
    for row in _ROWS
    for place, key in enumerate(row)
}


def mistyped(queries: Sequence[Query], seed: int = 0) -> tuple[Query, ...]:
    """`queries` with one letter of one word swapped, dropped, doubled or taken for its neighbour.

    A query without a long word stays as it is. `seed` gives other slips.
    """
    return tuple(
        # A generator each: the slip does not depend on which other queries were taken.
        replace(query, text=_slip(query.text, random.Random(f"{seed} {query.id}")))  # noqa: S311  # nothing secret
        for query in queries
    )


def _slip(text: str, dice: random.Random) -> str:
    words = list(_WORD.finditer(text))
    if not words:
        return text
    word = dice.choice(words)
    at = dice.randrange(word.start(), word.end() - 1)
    letter, following = text[at], text[at + 1]
    near = dice.choice(_NEIGHBOURS[letter.lower()])
    slips = [following + letter, following, letter * 2 + following, near + following]
    # To swap two that are the same letter changes nothing.
    told = [slip for slip in slips if slip.lower() != (letter + following).lower()]
    return text[:at] + dice.choice(told) + text[at + 2 :]
