"""Words and meaning together."""

import pytest

from deferred_tools.retrievers.hybrid import hybrid
from deferred_tools.retrievers.vectors import Vectors
from deferred_tools.spec import ToolSpec
from deferred_tools.testing.retrievers import check_retriever
from tests.core.retrievers.word_model import WordModel

TOOLS = (
    ToolSpec(source="post", tool="send_message", description="Send a message to a person"),
    ToolSpec(source="post", tool="list_folders", description="List the folders of a mailbox"),
    ToolSpec(source="books", tool="read_invoice", description="Read one invoice"),
    ToolSpec(source="books", tool="create_invoice", description="Create an invoice for a person"),
    ToolSpec(source="weather", tool="get_forecast", description="Get the forecast for a city"),
)


def found(query: str, k: int = 5, within: list[str] | None = None) -> list[str]:
    retriever = hybrid(Vectors(WordModel()))()
    retriever.index(TOOLS)
    names = [hit.name for hit in retriever.search(query, k, within)]
    assert retriever.problem == ""
    return names


def test_it_keeps_the_promises_of_a_retriever() -> None:
    check_retriever(hybrid(Vectors(WordModel())))


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("send_message", "post__send_message"),
        ("create an invoice", "books__create_invoice"),
        ("folders", "post__list_folders"),
        ("bill", "books__read_invoice"),
        ("temperature", "weather__get_forecast"),
        ("call get_forecast and write a letter", "weather__get_forecast"),
    ],
)
def test_what_either_half_knows_is_found(query: str, name: str) -> None:
    assert found(query)[0] == name


def test_a_request_for_nothing_finds_nothing() -> None:
    assert found("zzqx vlorp") == found("") == found("bill", 0) == []


def test_only_what_is_within_is_found() -> None:
    within = ["books__create_invoice", "weather__get_forecast"]
    assert found("send the bill to a person", 5, within)[0] == "books__create_invoice"
    assert set(found("send the bill to a person", 5, within)) <= set(within)


def test_while_the_model_fails_words_answer_and_the_reason_is_kept() -> None:
    def fail(texts: list[str]) -> list[list[float]]:
        raise OSError("key=SECRET")

    retriever = hybrid(Vectors(fail))()
    retriever.index(TOOLS)
    assert [hit.name for hit in retriever.search("list folders", 1)] == ["post__list_folders"]
    assert "OSError" in retriever.problem
    assert "SECRET" not in retriever.problem
