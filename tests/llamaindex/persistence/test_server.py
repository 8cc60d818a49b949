"""A WorkflowServer over SQLite: each server goes on where another one stopped."""

from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from tests.llamaindex.persistence.served import Served, serve
from tests.llamaindex.persistence.workflows import Kind
from tests.support.llama_model import call, calls, says


@pytest.fixture
def database(tmp_path: Path) -> str:
    """A SQLite file."""
    return str(tmp_path / "server.db")


@pytest.mark.parametrize("kind", get_args(Kind))
def test_another_server_goes_on_with_what_is_enabled(
    elsewhere: ProcessPoolExecutor, database: str, kind: Kind
) -> None:
    search = calls(call("tool_search", names=["get_weather"]))
    turn = Served(database=database, kind=kind, says="go", script=(search, says("For which city?")))
    first = serve(turn)
    assert "For which city?" in first.text
    assert first.searched == ["get_weather"]

    script = (calls(call("get_weather", city="Oslo")), says("sunny"))
    second = elsewhere.submit(serve, replace(turn, says="Oslo", script=script)).result()
    assert second.bound == [["tool_search", "get_weather"]] * 2
    assert second.told == [("get_weather", False, "sunny in Oslo")]
    assert "sunny" in second.text
    assert second.searched == []


def test_a_human_answers_a_deferred_tool_at_another_server(
    elsewhere: ProcessPoolExecutor, database: str
) -> None:
    script = (
        calls(call("tool_search", names=["ask_owner"])),
        calls(call("ask_owner", question="red?")),
    )
    asked = serve(Served(database=database, says="go", script=script))
    assert (asked.waits_for, asked.searched) == ({"prefix": "red?"}, ["ask_owner"])

    turn = Served(database=database, reply={"response": "yes"}, script=(says("thanks"),))
    answered = elsewhere.submit(serve, turn).result()
    assert answered.told == [("ask_owner", False, "the human says yes")]
    assert answered.bound == [["tool_search", "ask_owner"]]
    assert (answered.text, answered.searched) == ("thanks", [])


def test_the_host_approves_at_another_server_and_is_not_asked_at_a_third(
    elsewhere: ProcessPoolExecutor, database: str
) -> None:
    names = ["get_weather", "save_note"]
    script = (
        calls(*(call("tool_search", names=[name]) for name in names)),
        calls(call("get_weather", city="Oslo")),
        calls(call("save_note", text="sunny")),
    )
    asked = serve(Served(database=database, says="go", script=script))
    [tool] = asked.waits_for["tools"]
    assert tool["name"] == "save_note"

    answer = {"request": asked.waits_for["request"], "approved": True}
    turn = Served(database=database, reply=answer, script=(says("saved"),))
    approved = elsewhere.submit(serve, turn).result()
    assert approved.told == [("save_note", False, "saved sunny")]

    once_more = (calls(call("save_note", text="again")), says("saved"))
    again = serve(Served(database=database, says="again", script=once_more))
    assert again.told == [("save_note", False, "saved again")]


@pytest.mark.parametrize("kind", ["chat", "agent"])
def test_searches_side_by_side_lose_nothing_in_a_sql_store(database: str, kind: Kind) -> None:
    names = ["save_note", "get_weather", "ask_owner", "ask_guest"]
    searches = calls(*(call("tool_search", names=[name]) for name in names))
    script = (searches, says("found"))
    report = serve(Served(database=database, kind=kind, says="go", script=script))
    assert report.bound == [["tool_search"], ["tool_search", *names]]
    assert sorted(report.searched) == sorted(names)
