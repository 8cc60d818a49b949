"""The retrievers that come with the package keep the promises of the seam."""

import pytest

from deferred_tools.errors import ConfigurationError
from deferred_tools.retrievers.base import Retriever
from deferred_tools.retrievers.builtin import builtin
from deferred_tools.testing.retrievers import check_retriever

NAMES = ["bm25", "keyword", "regex", "substring"]


@pytest.mark.parametrize("name", NAMES)
def test_a_builtin_retriever_keeps_every_promise(name: str) -> None:
    check_retriever(builtin(name))


@pytest.mark.parametrize("name", NAMES)
def test_a_name_makes_a_new_retriever_each_time(name: str) -> None:
    assert isinstance(builtin(name)(), Retriever)
    assert builtin(name)() is not builtin(name)()


def test_an_unknown_name_is_refused_with_the_names_that_there_are() -> None:
    with pytest.raises(ConfigurationError) as raised:
        builtin("bm52")
    assert "'bm52'" in str(raised.value)
    assert all(name in str(raised.value) for name in NAMES)
