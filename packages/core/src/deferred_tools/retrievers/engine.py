"""What a catalogue is searched with: pure Python, or numpy where that pays and is there.

Both give the same results to the last digit.
"""

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import NamedTuple

from deferred_tools.retrievers.meaning import Vector, products
from deferred_tools.retrievers.postings import Postings
from deferred_tools.retrievers.python_postings import PythonPostings

LARGE = 10_000
"""Tools from which arrays are faster, and take a fifth of the memory."""


class Engine(NamedTuple):
    """The parts of a search that arrays can do."""

    postings: Postings
    products: Callable[[Vector, Sequence[Vector]], list[float]]
    """See `meaning.products`."""


def python_engine() -> Engine:
    """Needs nothing."""
    return Engine(PythonPostings(), products)


def numpy_engine() -> Engine:
    """Needs numpy: the extra `fast`."""
    # Not before it is known to be there.
    from deferred_tools.retrievers.array_products import array_products  # noqa: PLC0415
    from deferred_tools.retrievers.numpy_postings import NumpyPostings  # noqa: PLC0415

    return Engine(NumpyPostings(), array_products)


def engine_for(tools: int) -> Engine:
    """An engine for about so many tools."""
    large = tools >= LARGE and find_spec("numpy") is not None
    return numpy_engine() if large else python_engine()
