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
