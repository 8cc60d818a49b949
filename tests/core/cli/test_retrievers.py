"""Retrievers by name or path."""

import pytest

from deferred_tools.cli.retrievers import new_retriever
from deferred_tools.errors import ConfigurationError
from deferred_tools.retrievers.bm25 import BM25Retriever
from deferred_tools.retrievers.keyword import KeywordRetriever


def test_a_name_makes_one_of_ours_and_a_path_anybodys() -> None:
    assert isinstance(new_retriever("bm25"), BM25Retriever)
    path = "deferred_tools.retrievers.keyword:KeywordRetriever"
    assert isinstance(new_retriever(path), KeywordRetriever)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("no_such_module:make", "cannot be imported: ModuleNotFoundError"),
        ("json:no_such_thing", "cannot be imported: AttributeError"),
        (":make", "cannot be imported: ValueError"),
        ("json:__name__", "cannot be called"),
        ("collections:OrderedDict", "makes 'OrderedDict', which is no retriever"),
    ],
)
def test_a_path_to_something_else_is_refused_with_the_reason(path: str, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told) as caught:
        new_retriever(path)
    assert repr(path) in str(caught.value)
