"""Which engine holds the postings of a catalogue."""

from importlib.util import find_spec

from deferred_tools.retrievers.postings import Postings
from deferred_tools.retrievers.python_postings import PythonPostings

LARGE = 50_000
"""Tools from which arrays are faster than dictionaries, beside a fifth of the memory."""


def postings_for(tools: int) -> Postings:
    """An engine for about so many tools: with numpy where that pays and is there."""
    if tools >= LARGE and find_spec("numpy") is not None:
        from deferred_tools.retrievers.numpy_postings import NumpyPostings  # noqa: PLC0415

        return NumpyPostings()
    return PythonPostings()
