"""The retrievers that come with the package keep the promises of the seam."""

import pytest

from deferred_tools.errors import ConfigurationError
from deferred_tools.retrievers.base import Retriever
from deferred_tools.retrievers.builtin import builtin
from deferred_tools.spec import ToolSpec
from deferred_tools.testing.retrievers import check_retriever

NAMES = ["bm25", "words", "keyword", "regex", "substring"]


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
    assert all(name in str(raised.value) for name in (*NAMES, "embeddings", "hybrid"))


@pytest.mark.parametrize("name", ["embeddings", "hybrid"])
def test_a_retriever_with_a_model_finds_what_words_do_not_share(name: str) -> None:
    retriever = builtin(name, index_seconds=None)()
    retriever.index(
        [
            ToolSpec(source="a", tool="get_forecast", description="Meteorological outlook"),
            ToolSpec(source="b", tool="create_issue", description="Open a ticket"),
        ]
    )
    assert [hit.name for hit in retriever.search("will it rain tomorrow?", 1)] == [
        "a__get_forecast"
    ]
