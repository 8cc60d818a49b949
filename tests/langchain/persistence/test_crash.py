"""A run that died goes on in another process, and does nothing twice."""

from uuid import uuid4

import pytest

from tests.langchain.persistence.turn import Process, Turn
from tests.support.scripted_model import call, says

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_a_search_beside_a_call_that_crashed_is_kept_and_not_repeated(
    store: str, processes: list[Process], asynchronous: bool
) -> None:
    turn = Turn(
        store=store,
        thread=uuid4().hex,
        says="go",
        script=[
            says(call("tool_search", names=["save_note"])),
            says(call("tool_search", names=["get_weather"]), call("save_note", text="milk")),
        ],
        tools="disk full",
        asynchronous=asynchronous,
    )
    crashed = processes[0].take(turn)
    assert crashed.failure == "the disk is full"
    assert crashed.searched == ["save_note", "get_weather"]

    script = [says(call("get_weather", city="Oslo")), says(text="done")]
    going_on = turn.model_copy(update={"says": None, "script": script, "tools": "usual"})
    resumed = processes[1].take(going_on)
    assert resumed.searched == []
    assert resumed.bound == [["tool_search", "save_note", "get_weather"]] * 2
    assert [answer[:2] for answer in resumed.answers] == [
        ("tool_search", "success"),
        ("tool_search", "success"),
        ("save_note", "success"),
        ("get_weather", "success"),
    ]
    assert (resumed.text, resumed.failure, resumed.complaints) == ("done", "", [])
