"""Words are understood in the words of the catalogue."""

import pytest

from deferred_tools import ToolSpec
from deferred_tools.retrievers.engine import python_engine
from deferred_tools.retrievers.indexed import Indexed
from deferred_tools.retrievers.lexicon import GUESSES, Lexicon
from deferred_tools.retrievers.request import Request
from deferred_tools.retrievers.text import Analyser

ANALYSER = Analyser()


def indexed(*descriptions: str) -> Indexed:
    index = Indexed(ANALYSER, None, python_engine())
    index.add(
        ToolSpec(source="s", tool=f"t{number}", description=description)
        for number, description in enumerate(descriptions)
    )
    return index


def lexicon(*descriptions: str) -> Lexicon:
    return indexed(*descriptions).lexicon


def terms(lexicon: Lexicon, text: str) -> dict[str, float]:
    return lexicon.terms(Request.of(text, ANALYSER).whole)


def test_a_word_stands_for_its_stem_and_counts_more_when_it_is_repeated() -> None:
    words = lexicon("create issues")
    once, thrice = terms(words, "issue"), terms(words, "issue issues ISSUE")
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
        ("toolbox", "the tool_box", "+toolbox"),
        ("GitHub", "uses github", "github"),
        ("github", "uses GitHub", "+github"),
        ("kubernets", "kubernetes pods", "kubernet"),
    ],
)
def test_another_spelling_finds_the_word_of_the_catalogue(
    query: str, description: str, term: str
) -> None:
    assert 0 < terms(lexicon(description), query)[term] <= 1


def test_a_known_word_is_never_taken_for_another() -> None:
    assert set(terms(lexicon("post", "posts host", "hosting"), "host")) == {"host"}


def test_small_words_are_not_joined_to_words() -> None:
    words = lexicon("a todo", "the login")
    assert "todo" not in terms(words, "what is there to do?")
    assert "login" in terms(words, "log in")


def test_the_guesses_for_one_request_are_bounded() -> None:
    known = [f"{letter}abcdefgh" for letter in "klmnopqrstuvwxyz"]
    misspelt = " ".join(f"{word}x" for word in known)
    assert 0 < len(terms(lexicon(*known), misspelt)) < len(known)


def test_a_word_tells_more_the_fewer_tools_hold_it_and_nothing_if_none_does() -> None:
    words = lexicon("list issues", "list pods", "list notes")
    assert words.rarity("issu") > words.rarity("list") > 0
    assert words.rarity("absent") == 0


def test_what_words_tell_follows_the_tools_that_come_and_go() -> None:
    index = indexed("list issues", "list pods")
    assert not terms(index.lexicon, "invoice")
    before = index.lexicon.rarity("issu")
    index.add([ToolSpec(source="s", tool="pay", description="pay invoices, list issues")])
    assert terms(index.lexicon, "invoice") == {"invoic": 1}
    assert index.lexicon.rarity("issu") < before
    index.remove(["s__pay"])
    assert not terms(index.lexicon, "invoice")
    assert index.lexicon.rarity("issu") == before


def test_what_is_asked_is_worth_its_rarity() -> None:
    words = lexicon("list issues", "list pods", "list notes")
    asked = words.ask(Request.of("list the issues", ANALYSER).whole)
    assert asked.terms["issu"] > asked.terms["list"] > 0
    assert asked.said["issu"] == words.rarity("issu")
    assert words.ask(Request.of("nothing here", ANALYSER).whole).terms == {}


def test_a_text_is_mended_where_a_slip_parts_a_word_from_a_known_one() -> None:
    words = lexicon("create repositories", "delete invoices", "post")
    assert (
        words.mended("Dlete the invioces, in my umbrella!")
        == "delete the invoices, in my umbrella!"
    )
    assert words.mended("create host posts") == "create host posts"


def test_the_words_that_are_mended_are_bounded() -> None:
    known = [f"{letter}abcdefgh" for letter in "klmnopqrstuvwxyz"]
    misspelt = " ".join(f"{word}x" for word in known)
    mended = lexicon(*known).mended(misspelt).split()
    assert sum(word in known for word in mended) == GUESSES
