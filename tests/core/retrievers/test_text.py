"""Words and stems are the same for tools and queries, whatever is written."""

import string
from concurrent.futures import ThreadPoolExecutor

import pytest
import snowballstemmer
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools import ToolSpec, ToolTag
from deferred_tools.retrievers import text as module
from deferred_tools.retrievers.text import Analyser, SearchText, fold, squash

ANALYSER = Analyser()


@pytest.mark.parametrize(
    ("identifier", "words"),
    [
        ("addPerson", ["add", "person"]),
        ("XMLParser", ["xml", "parser"]),
        ("parseXMLFeed", ["parse", "xml", "feed"]),
        ("canvas_create_edge", ["canvas", "create", "edge"]),
        ("SHOUTING_CASE", ["shouting", "case"]),
        ("mail-send", ["mail", "send"]),
        ("files.read.text", ["files", "read", "text"]),
        ("repos/list", ["repos", "list"]),
        ("getCoreV1APIResources", ["get", "core", "v1api", "api", "resources"]),
        ("HTTP2Server", ["http2", "http", "server"]),
        ("listURLsOfIDs", ["list", "url", "of", "id"]),
        ("base64Decode", ["base64", "base", "decode"]),
        ("k8s", ["k8s"]),
        ("3D", ["3d"]),
        ("_private__name_", ["private", "name"]),
        ("", []),
    ],
)
def test_an_identifier_is_cut_into_words_before_case_is_folded(
    identifier: str, words: list[str]
) -> None:
    assert ANALYSER.words(identifier) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Create an issue, please!", ["create", "an", "issue", "please"]),
        ("ＦＵＬＬ　ｗｉｄｔｈ ﬁle", ["full", "width", "file"]),  # noqa: RUF001  # wide on purpose
        ("Straße ÜBER Ελλάδα", ["strasse", "über", "ελλάδα"]),
        ("de\u200blete the\u00ad me", ["delete", "the", "me"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("検索する", ["検索", "索す", "する"]),
        ("法", ["法"]),
        ("查询API文档", ["查询", "api", "文档"]),
        ("법령을 찾기", ["법령", "령을", "찾기"]),
        ("ค้นหา", ["ค้", "้น", "นห", "หา"]),
        ("ລາວ ខ្មែ မြန", ["ລາ", "າວ", "ខ្", "្ម", "មែ", "မြ", "ြန"]),
        ("☁️ 🎯 — … «»", []),
    ],
)
def test_words_follow_the_script_that_they_are_written_in(text: str, words: list[str]) -> None:
    assert ANALYSER.words(text) == words


def test_stems_leave_out_what_says_nothing() -> None:
    assert ANALYSER.stems("Please show me the scheduled meetings") == ["show", "schedul", "meet"]
    assert ANALYSER.stems("what can you do for me?") == []


def test_two_words_written_as_one_are_known_as_one_too() -> None:
    for text in ("GitHub", "git_hub", "git-hub", "git.hub"):
        assert [ANALYSER.chunk(run).joined for run in ANALYSER.runs(text)] == ["github"]
    assert ANALYSER.chunk("one_two_three").joined == ""


@given(
    st.text(string.ascii_lowercase, max_size=9),
    st.sampled_from(
        ["", "s", "ied", "ingly", "ments", "ator", "alism", "iveness", "biliti", "ogist"]
    ),
)
def test_no_word_is_spared_the_stemmer_that_it_would_have_changed(start: str, end: str) -> None:
    word = f"a{start}{end}"
    assert ANALYSER.stem(word) == snowballstemmer.stemmer("english").stemWord(word)


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        ("pdfs", "pdf"),
        ("PDFs", "pdf"),
        ("PRs", "pr"),
        ("URLs", "url"),
        ("urls", "url"),
        ("DNS", "dns"),
        ("dns", "dns"),
        ("CSS", "css"),
        ("js", "js"),
    ],
)
def test_an_abbreviation_loses_the_s_of_its_plural_and_no_other(word: str, stem: str) -> None:
    assert ANALYSER.stems(word) == [stem]


def test_threads_may_share_an_analyser() -> None:
    words = [f"{start}{end}" for start in string.ascii_lowercase for end in ("ations", "ingly")]
    alone = [Analyser().stem(word) for word in words]
    shared = Analyser()
    with ThreadPoolExecutor(4) as pool:
        for stems in pool.map(lambda _: [shared.stem(word) for word in words], range(8)):
            assert stems == alone


@given(st.text())
def test_any_text_gives_words_and_each_word_is_found_again(text: str) -> None:
    words = ANALYSER.words(text)
    assert all(words)
    for word in words:
        assert word in ANALYSER.words(word)
    assert len(ANALYSER.stems(text)) <= len(words)


@given(st.text())
def test_folding_is_done_once_and_for_all(text: str) -> None:
    folded = fold(text)
    assert fold(folded) == folded
    assert squash(squash(text)) == squash(text)


@given(st.text(st.characters(codec="ascii")))
def test_case_makes_no_difference_to_a_text_that_has_only_one(text: str) -> None:
    assert ANALYSER.words(text.lower()) == ANALYSER.words(text.upper())


def test_the_searchable_text_of_a_tool_has_all_that_it_says_of_itself() -> None:
    schema = {
        "properties": {
            "state": {"description": "Open or not", "enum": ["open", "closed", 3, None]},
            "filter": {"anyOf": [{"$ref": "#/$defs/Filter"}, {"type": "null"}]},
            "labels": {"items": {"properties": {"colour": {"description": "As hex"}}}},
        },
        "$defs": {"Filter": {"properties": {"since": {"description": "A date"}}}},
    }
    spec = ToolSpec(
        source="github",
        tool="list_issues",
        title="Issues",
        description="Lists issues.",
        input_schema=schema,
        tags=frozenset({ToolTag.EGRESS, ToolTag.SENSITIVE}),
        aliases=("tickets", "bug reports"),
    )
    text = SearchText.of(spec)
    assert (text.name, text.source) == ("list_issues", "github")
    assert text.description == "Issues\nLists issues."
    assert text.parameters.split() == ["state", "filter", "labels", "since", "colour"]
    assert text.details.split("\n") == ["Open or not", "open", "closed", "A date", "As hex"]
    assert text.labels.split("\n") == ["egress", "sensitive", "tickets", "bug reports"]


def test_a_name_that_the_registry_gave_is_searched_beside_the_own_one() -> None:
    assert SearchText.of(ToolSpec(source="s", tool="a.b", name="s__a_b")).name == "a.b"
    assert SearchText.of(ToolSpec(source="s", tool="x1", name="find_law")).name == "x1 find_law"


@pytest.mark.parametrize(
    "schema",
    [
        None,
        {},
        {"properties": []},
        {"properties": {"a": True, "b": None, "c": {"description": 7, "enum": {"x": 1}}}},
        {"properties": {"a": {"anyOf": "odd", "items": [1], "$defs": 3}}},
    ],
)
def test_a_schema_of_any_shape_costs_nothing_else(schema: dict[str, object] | None) -> None:
    text = SearchText.of(ToolSpec(source="s", tool="t", description="d", input_schema=schema))
    assert (text.name, text.details) == ("t", "")


def test_what_is_searched_of_one_tool_is_bounded() -> None:
    cyclic: dict[str, object] = {"description": "x" * 1_000, "enum": ["y"] * 1_000}
    cyclic["items"] = cyclic
    cyclic["properties"] = {f"p{number}": cyclic for number in range(1_000)}
    text = SearchText.of(
        ToolSpec(source="s", tool="t", description="z" * 10**6, input_schema=cyclic)
    )
    assert len(text.parameters.split()) == module.PARAMETERS
    assert len(text.description) == module.DESCRIPTION_LENGTH
    assert len(text.details) == module.DETAILS_LENGTH
