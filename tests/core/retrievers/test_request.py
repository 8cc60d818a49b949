"""A request is taken apart, and its words are understood in the words of the catalogue."""

import pytest

from deferred_tools import ToolSpec
from deferred_tools.retrievers import synonyms
from deferred_tools.retrievers.inverted import Inverted
from deferred_tools.retrievers.request import CLAUSES, Vocabulary, clauses
from deferred_tools.retrievers.spelling import Spelling
from deferred_tools.retrievers.text import Analyser

ANALYSER = Analyser()


def vocabulary(*descriptions: str) -> Vocabulary:
    specs = [
        ToolSpec(source="s", tool=f"t{number}", description=description)
        for number, description in enumerate(descriptions)
    ]
    words = Inverted.of(specs, ANALYSER)
    return Vocabulary(ANALYSER, words, Spelling(words.postings), synonyms.read(ANALYSER.stem))


@pytest.mark.parametrize(
    ("request_", "parts"),
    [
        ("Find the cheapest flight to Rome", []),
        (
            "Find cheap flights to Rome and book hotel rooms nearby. Then mail the plan to Bob",
            [
                "Find cheap flights to Rome",
                "book hotel rooms nearby.",
                "Then mail the plan to Bob",
            ],
        ),
        ("Search and replace text in files", []),
        ("创建一个问题。然后发送邮件。", ["创建一个问题", "然后发送邮件"]),
    ],
)
def test_a_request_for_several_things_has_parts(request_: str, parts: list[str]) -> None:
    assert clauses(request_, ANALYSER) == parts


def test_the_parts_of_a_request_are_bounded() -> None:
    assert len(clauses("read big files. " * 100, ANALYSER)) == CLAUSES


def test_a_word_stands_for_its_stem_and_counts_more_when_it_is_repeated() -> None:
    words = vocabulary("create issues")
    once, thrice = words.terms("issue"), words.terms("issue issues ISSUE")
    assert once["issu"] == 1
    assert 1 < thrice["issu"] < 3


@pytest.mark.parametrize(
    ("query", "description", "term"),
    [
        ("k8s", "kubernetes pods", "kubernet"),
        ("repo", "a repository", "repositori"),
        ("pull request", "a PR", "pr"),
        ("pr", "pull request", "pull"),
        ("tool box", "the toolbox", "toolbox"),
        ("toolbox", "the tool_box", "tool"),
        ("GitHub", "uses github", "github"),
        ("kubernets", "kubernetes pods", "kubernet"),
    ],
)
def test_another_spelling_finds_the_word_of_the_catalogue(
    query: str, description: str, term: str
) -> None:
    assert 0 < vocabulary(description).terms(query)[term] <= 1


def test_a_known_word_is_never_taken_for_another() -> None:
    assert set(vocabulary("post", "posts host", "hosting").terms("host")) == {"host"}


def test_small_words_are_not_joined_to_words() -> None:
    words = vocabulary("a todo", "the login")
    assert "todo" not in words.terms("what is there to do?")
    assert "login" in words.terms("log in")


def test_the_guesses_for_one_request_are_bounded() -> None:
    known = [f"{letter}abcdefgh" for letter in "klmnopqrstuvwxyz"]
    misspelt = " ".join(f"{word}x" for word in known)
    assert 0 < len(vocabulary(*known).terms(misspelt)) < len(known)


def test_the_synonyms_are_symmetric_and_no_word_is_its_own() -> None:
    groups = synonyms.read(lambda word: word)
    assert groups["pull", "request"]["pr"] == 0.5
    assert 0 < groups["pr",]["pull"] < 0.5
    for member, others in groups.items():
        if len(member) == 1:
            assert member[0] not in others
        assert len(member) <= synonyms.LONGEST
        assert all(0 < weight < 1 for weight in others.values())
