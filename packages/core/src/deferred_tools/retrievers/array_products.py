"""`meaning.products` by numpy. Sums of whole numbers below 2**24 are exact in its quickest type."""

from collections.abc import Sequence

import numpy as np

from deferred_tools.retrievers.meaning import Vector


def array_products(one: Vector, others: Sequence[Vector]) -> list[float]:
    """The products of the numbers of `one` and of each of `others`."""
    if not others:
        return []
    joined = np.frombuffer(b"".join(other.numbers for other in others), np.int8)
    rows = joined.reshape(len(others), -1).astype(np.float32)
    found: list[float] = (rows @ np.array(one.numbers, np.float32)).tolist()
    return found
