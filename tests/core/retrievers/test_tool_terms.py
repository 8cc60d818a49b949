"""What a tool says, as terms."""

from deferred_tools import ToolSpec
from deferred_tools.retrievers.text import Analyser
from deferred_tools.retrievers.tool_terms import ToolTerms, is_stem

ANALYSER = Analyser()


def read(tool: str, description: str = "", **schema: object) -> ToolTerms:
    spec = ToolSpec(source="srv", tool=tool, description=description, input_schema=schema)
    return ToolTerms.of(spec, ANALYSER)


def test_every_field_is_read() -> None:
    parameters = {"repo_name": {"description": "Which repository", "enum": ["alpha"]}}
    terms = read("list_issues", "Lists issues. Newest come first.", properties=parameters)
    for term, field in {
        "list": "name",
        "srv": "source",
        "issu": "lead",
        "newest": "description",
        "repo": "parameters",
        "alpha": "details",
    }.items():
        assert field in terms.fields_of(term)
    assert "description" not in terms.fields_of("issu")
    assert terms.fields_of("absent") == ()


def test_neighbours_in_a_name_and_words_with_a_border_are_also_one_word() -> None:
    weights = read("read_file_system", "For GitHub and e-mail").weights()
    assert {"+filesystem", "+github", "+email", "file", "system", "git", "hub"} <= weights.keys()


def test_a_name_holds_its_words_as_they_stand_where_stems_differ() -> None:
    terms = read("list_organizations")
    assert "=organizations" in terms.weights()
    assert "=list" not in terms.weights()
    assert terms.name == ("list", "organiz")


def test_a_word_in_the_name_weighs_more_than_one_in_a_long_description() -> None:
    weights = read(
        "issue", "Something else altogether. " + "many words of ballast, " * 50
    ).weights()
    assert weights["issu"] > weights["ballast"] > 0


def test_the_name_speaks_loudest_of_what_a_tool_is() -> None:
    counts = read("send_mail", "Send a letter").counts()
    assert counts["mail"] > counts["letter"] > 0
    assert "srv" not in counts


def test_marked_terms_are_no_stems() -> None:
    assert is_stem("mail")
    assert not any(map(is_stem, ("+email", "=mails")))
