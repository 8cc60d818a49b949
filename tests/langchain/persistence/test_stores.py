"""A conversation goes on in another process, with what it had enabled, from any store."""

from uuid import uuid4

import ormsgpack
import psycopg
import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.postgres import PostgresSaver

from tests.langchain.persistence.agent import build, toolset
from tests.langchain.persistence.turn import Process, Turn
from tests.support.scripted_model import ScriptedModel, call, says

WEATHER = ["tool_search", "get_weather"]


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_what_one_process_enabled_is_bound_in_the_next_ones(
    store: str, processes: list[Process], asynchronous: bool
) -> None:
    thread, other_thread = uuid4().hex, uuid4().hex

    def turn(text: str, *script: AIMessage, thread: str = thread) -> Turn:
        return Turn(
            store=store, thread=thread, says=text, script=list(script), asynchronous=asynchronous
        )

    search = says(call("tool_search", names=["get_weather"]))
    ask = says(call("get_weather", city="Oslo"))
    search_more = says(call("tool_search", names=["save_note"]))
    first = processes[0].take(turn("hello", search, says(text="hi")))
    second = processes[1].take(turn("Oslo?", ask, says(text="sunny")))
    third = processes[2].take(turn("a note", search_more, says(text="done")))

    assert first.bound == [["tool_search"], WEATHER]
    assert second.bound == [WEATHER, WEATHER]
    assert second.searched == []
    assert second.answers[-1] == ("get_weather", "success", "sunny in Oslo")
    assert third.bound == [WEATHER, [*WEATHER, "save_note"]]
    assert [entry["name"] for entry in third.ledger["ledger"]] == ["get_weather", "save_note"]

    other = processes[0].take(turn("Oslo?", ask, says(text="no"), thread=other_thread))
    assert other.bound == [["tool_search"], ["tool_search"]]
    assert other.answers[0][:2] == ("get_weather", "error")
    assert other.ledger == {}

    reports = [first, second, third, other]
    assert [(report.failure, report.complaints) for report in reports] == [("", [])] * 4


def test_what_is_stored_is_plain_msgpack(postgres: str) -> None:
    config = {"configurable": {"thread_id": uuid4().hex}}
    model = ScriptedModel(script=[says(call("tool_search", names=["get_weather"])), says(text="")])
    with PostgresSaver.from_conn_string(postgres) as saver, toolset() as tools:
        saver.setup()
        agent = build(model, saver, tools)
        agent.invoke({"messages": [("user", "hello")]}, config)
        ledger = agent.get_state(config).values["deferred_tools"]

    query = "select type, blob from checkpoint_blobs where thread_id = %s and channel = %s"
    with psycopg.connect(postgres) as connection:
        where = (config["configurable"]["thread_id"], "deferred_tools")
        rows = connection.execute(query, where).fetchall()
    # Without a hook for extension types: an object of any class would be refused.
    assert ledger in [ormsgpack.unpackb(blob) for kind, blob in rows if kind == "msgpack"]
