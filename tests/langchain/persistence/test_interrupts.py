"""A run that waits for a human goes on in another process."""

from dataclasses import dataclass
from uuid import uuid4

import pytest
from langchain_core.messages import ToolCall

from tests.langchain.persistence.turn import Process, Turn
from tests.support.scripted_model import call, says


@dataclass(frozen=True)
class Case:
    """A call that waits for a human."""

    action: ToolCall
    answer: object
    result: str


FUNCTION = Case(call("ask_owner", question="red?"), "yes", "the owner says yes")
LANGCHAIN_TOOL = Case(call("ask_guest", question="wine?"), "no", "the guest says no")
REVIEWED = Case(
    call("delete_file", path="a.txt"), {"decisions": [{"type": "approve"}]}, "deleted a.txt"
)


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize(
    "case", [FUNCTION, LANGCHAIN_TOOL, REVIEWED], ids=["function", "langchain tool", "reviewed"]
)
def test_an_interrupt_is_answered_in_another_process(
    store: str, processes: list[Process], case: Case, asynchronous: bool
) -> None:
    name = case.action["name"]
    asking = Turn(
        store=store,
        thread=uuid4().hex,
        says="go",
        script=[says(call("tool_search", names=[name])), says(case.action)],
        asynchronous=asynchronous,
    )
    asked = processes[0].take(asking)
    assert len(asked.interrupts) == 1
    assert len(asked.answers) == 1

    script = [says(text="thanks")]
    answering = asking.model_copy(update={"says": None, "resume": case.answer, "script": script})
    report = processes[1].take(answering)
    assert report.interrupts == []
    assert report.answers[1:] == [(name, "success", case.result)]
    assert report.searched == [], "what was enabled is not searched for again"
    assert report.bound == [["tool_search", name]]
    assert (report.text, report.failure, report.complaints) == ("thanks", "", [])


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_the_host_is_asked_in_one_process_answers_in_another_and_is_not_asked_in_a_third(
    store: str, processes: list[Process], asynchronous: bool
) -> None:
    searches = [call("tool_search", names=[name]) for name in ("get_weather", "save_note")]
    asking = Turn(
        store=store,
        thread=uuid4().hex,
        says="go",
        script=[
            says(*searches),
            says(call("get_weather", city="Oslo"), call("save_note", text="rain")),
        ],
        tools="guarded",
        asynchronous=asynchronous,
    )
    [asked] = processes[0].take(asking).interrupts
    assert [tool["name"] for tool in asked["tools"]] == ["save_note"]

    thanks = [says(text="thanks")]
    answering = asking.model_copy(update={"says": None, "resume": True, "script": thanks})
    report = processes[1].take(answering)
    assert report.interrupts == []
    assert report.answers[-1] == ("save_note", "success", "saved rain")
    assert [one["name"] for one in report.ledger["approved"]] == ["save_note"]

    script = [says(call("save_note", text="again")), *thanks]
    report = processes[2].take(asking.model_copy(update={"says": "again", "script": script}))
    assert (report.interrupts, report.complaints) == ([], [])
    assert report.answers[-1] == ("save_note", "success", "saved again")
