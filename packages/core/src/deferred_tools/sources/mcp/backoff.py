"""How long to wait before trying again."""

import random
from collections.abc import Iterator

FIRST_SECONDS = 0.2
LONGEST_SECONDS = 30.0


def delays() -> Iterator[float]:
    """Seconds to wait, for ever: doubling, and spread so that clients do not come together."""
    spread = random.SystemRandom()
    longest = FIRST_SECONDS
    while True:
        yield spread.uniform(longest / 2, longest)
        longest = min(longest * 2, LONGEST_SECONDS)
