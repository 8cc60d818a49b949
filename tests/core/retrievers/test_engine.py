"""Which engine a catalogue gets."""

import sys

import pytest

from deferred_tools.retrievers.engine import LARGE, postings_for
from deferred_tools.retrievers.numpy_postings import NumpyPostings
from deferred_tools.retrievers.python_postings import PythonPostings


def test_a_usual_catalogue_needs_no_numpy() -> None:
    assert isinstance(postings_for(LARGE - 1), PythonPostings)


def test_a_large_catalogue_is_kept_in_arrays() -> None:
    assert isinstance(postings_for(LARGE), NumpyPostings)


def test_without_numpy_a_large_catalogue_is_pure_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert isinstance(postings_for(LARGE), PythonPostings)
