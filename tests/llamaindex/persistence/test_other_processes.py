"""A context that was written as JSON goes on in another process."""

from concurrent.futures import ProcessPoolExecutor

import pytest

from tests.llamaindex.persistence.turn import Turn, take
from tests.support.llama_agents import KINDS, Kind
from tests.support.llama_model import call

pytestmark = pytest.mark.thorough

of_every_kind = pytest.mark.parametrize(
    "kind",
    [kind for kind in KINDS if kind.streaming and kind.name != "from_tools"],
    ids=lambda kind: kind.name,
)


@of_every_kind
def test_what_is_enabled_is_there_in_another_process(
    elsewhere: ProcessPoolExecutor, kind: Kind
) -> None:
    search = call("tool_search", names=["get_weather"])
    first = take(Turn(kind=kind, says="go", script=(search, "found")))
    assert first.searched == ["get_weather"]

    script = (call("get_weather", city="Oslo"), "sunny")
    turn = Turn(kind=kind, says="go on", script=script, context=first.context)
    second = elsewhere.submit(take, turn).result()
    assert second.bound == [["tool_search", "get_weather"]] * 2
    assert second.told == [("get_weather", False, "sunny in Oslo")]
    assert (second.text, second.searched) == ("sunny", [])


@pytest.mark.parametrize("tool", ["ask_owner", "ask_guest"], ids=["llama_index", "function"])
@of_every_kind
def test_a_human_answers_a_deferred_tool_in_another_process(
    elsewhere: ProcessPoolExecutor, kind: Kind, tool: str
) -> None:
    ask = call(tool, question="red?")
    script = (call("tool_search", names=[tool]), ask)
    asked = take(Turn(kind=kind, says="go", script=script))
    assert (asked.waits_for, asked.searched) == ({"prefix": "red?"}, [tool])
    assert [name for name, *_ in asked.told] == ["tool_search"]

    turn = Turn(kind=kind, script=("thanks",), context=asked.context, reply={"response": "yes"})
    answered = elsewhere.submit(take, turn).result()
    assert answered.told == [(tool, False, "the human says yes")]
    assert answered.bound == [["tool_search", tool]]
    assert (answered.text, answered.searched) == ("thanks", [])
