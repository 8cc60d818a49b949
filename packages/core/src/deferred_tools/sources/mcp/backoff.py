"""How long to wait before trying again."""

import random

FIRST_SECONDS = 0.2
LONGEST_SECONDS = 30.0
_ENOUGH_DOUBLINGS = 30


def pause(failures: int) -> float:
    """Seconds to wait after so many failures in a row: doubling up to a longest."""
    doublings = min(max(failures - 1, 0), _ENOUGH_DOUBLINGS)
    return spread(min(FIRST_SECONDS * 2**doublings, LONGEST_SECONDS))


def spread(seconds: float) -> float:
    """At most `seconds` and at least half: so that clients do not come together."""
    return random.SystemRandom().uniform(seconds / 2, seconds)
