"""What a model of meaning reads of a tool."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.retrievers.tool_text import PARAMETERS, PURPOSE_LENGTH, WORDS_LENGTH, ToolText
from deferred_tools.spec import ToolSpec

# Any JSON, as a server may call it a schema.
JSON = st.recursive(
    st.none() | st.booleans() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@pytest.mark.parametrize(
    ("source", "tool", "name"),
    [
        ("github", "create_issue", "create issue (github)"),
        ("git-hub.com", "getUserXMLFeed2", "get User XML Feed2 (git hub com)"),
        ("functions", "sendMail", "send Mail"),
        ("地図", "住所を検索", "住所を検索 (地図)"),
        ("functions", "__", "__"),
    ],
)
def test_a_name_is_read_as_words_with_that_of_its_server(source: str, tool: str, name: str) -> None:
    assert ToolText.of(ToolSpec(source=source, tool=tool)).name == name


@pytest.mark.parametrize(
    ("description", "purpose"),
    [
        ("Send a mail. At once. Others wait.\n\nArgs:\n  to: who gets it", "Send a mail At once"),
        ("# Mail\n\nSend a mail to somebody", "Send a mail to somebody"),
        ("", "Mailer"),
        ("mail", "Mailer"),
    ],
)
def test_the_purpose_is_what_the_first_sentences_say(description: str, purpose: str) -> None:
    spec = ToolSpec(source="functions", tool="send", title="Mailer", description=description)
    assert ToolText.of(spec).purpose.replace(".", "") == purpose


def test_parameters_are_read_as_words() -> None:
    schema = {"properties": {"userId": {"type": "string"}, "max_results": {"type": "number"}}}
    spec = ToolSpec(source="s", tool="t", input_schema=schema)
    assert ToolText.of(spec).parameters == "user Id, max results"


def test_what_a_tool_does_not_say_is_empty() -> None:
    assert ToolText.of(ToolSpec(source="functions", tool="sendMail")) == ("send Mail", "", "")


@given(
    tool=st.text(min_size=1),
    description=st.text(),
    title=st.text(),
    schema=st.dictionaries(st.sampled_from(["properties", "type"]), JSON),
)
def test_any_tool_has_texts_within_bounds(
    tool: str, description: str, title: str, schema: dict[str, object]
) -> None:
    spec = ToolSpec(
        source="s", tool=tool, description=description * 50, title=title, input_schema=schema
    )
    text = ToolText.of(spec)
    assert text.name
    assert len(text.name) <= WORDS_LENGTH * 2
    assert len(text.purpose) <= PURPOSE_LENGTH
    assert len(text.parameters) <= PARAMETERS * (WORDS_LENGTH * 2)
