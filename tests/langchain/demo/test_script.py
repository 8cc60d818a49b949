"""The scripted model: it goes by what is bound, not by what it hopes for."""

from dataclasses import replace

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from langchain_deferred_tools.demo.agent import shortcomings
from langchain_deferred_tools.demo.scene import Step
from langchain_deferred_tools.demo.script import reply

SUM = Step(
    source="calculator",
    wish="How much is 1 + 1?",
    query="add two numbers",
    tool="calculator__add",
    arguments={"a": 1, "b": 1},
    tell="The sum is {}.".format,
)
ASKED = HumanMessage(SUM.wish)
SEARCHED = ToolMessage("found", name="tool_search", tool_call_id="1")
SUMMED = ToolMessage("2", name="calculator__add", tool_call_id="2")


def called(message: AIMessage) -> list[str]:
    return [call["name"] for call in message.tool_calls]


def test_it_searches_in_its_own_words_first() -> None:
    message = reply([SUM], [ASKED], {"tool_search"})
    assert called(message) == ["tool_search"]
    assert message.tool_calls[0]["args"]["query"] == SUM.query


def test_it_calls_what_was_bound() -> None:
    bound = {"tool_search", "calculator__add", "calculator__subtract"}
    message = reply([SUM], [ASKED, SEARCHED], bound)
    assert called(message) == ["calculator__add"]
    assert message.tool_calls[0]["args"] == SUM.arguments


def test_it_answers_with_the_result() -> None:
    bound = {"tool_search", "calculator__add"}
    assert reply([SUM], [ASKED, SEARCHED, SUMMED], bound).text == "The sum is 2."


def test_it_does_not_call_what_was_not_bound_and_says_so() -> None:
    message = reply([SUM], [ASKED, SEARCHED], {"tool_search", "calculator__subtract"})
    assert called(message) == []
    assert "did not bind" in message.text


def test_it_tells_of_a_call_that_failed() -> None:
    failed = ToolMessage("no", name="calculator__add", tool_call_id="2", status="error")
    message = reply([SUM], [ASKED, SEARCHED, failed], {"tool_search", "calculator__add"})
    assert message.text == "I found calculator__add, but its call failed: no"


def test_calls_have_ids_of_their_own() -> None:
    first = reply([SUM, SUM], [ASKED], {"tool_search"})
    then = reply([SUM], [ASKED, SEARCHED, SEARCHED], {"tool_search", "calculator__add"})
    ids = [call["id"] for message in (first, then) for call in message.tool_calls]
    assert len(set(ids)) == len(ids)


def test_a_demo_that_did_not_show_what_it_should_has_shortcomings() -> None:
    answered: list[BaseMessage] = [SEARCHED, SUMMED, AIMessage("The sum is 2.")]
    assert shortcomings([SUM], answered) == []
    assert shortcomings([SUM], [SEARCHED]) == [
        "calculator__add was not called",
        "the model gave no answer",
    ]
    assert shortcomings([replace(SUM, refused=True)], answered) == [
        "calculator__add was not refused"
    ]
