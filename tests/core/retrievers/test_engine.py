"""Which engine a catalogue gets."""

import sys
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.retrievers.engine import LARGE, engine_for, numpy_engine, python_engine
from deferred_tools.retrievers.meaning import Vector
from deferred_tools.retrievers.numpy_postings import NumpyPostings
from deferred_tools.retrievers.python_postings import PythonPostings


def test_a_usual_catalogue_needs_no_numpy() -> None:
    assert isinstance(engine_for(LARGE - 1).postings, PythonPostings)


def test_a_large_catalogue_is_kept_in_arrays() -> None:
    assert isinstance(engine_for(LARGE).postings, NumpyPostings)


def test_without_numpy_a_large_catalogue_is_pure_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    assert isinstance(engine_for(LARGE).postings, PythonPostings)


@given(st.lists(st.binary(min_size=8, max_size=8), min_size=1, max_size=5))
def test_both_engines_give_the_same_products(rows: list[bytes]) -> None:
    one, *others = [Vector(array("b", row), 1.0) for row in rows]
    assert numpy_engine().products(one, others) == python_engine().products(one, others)
