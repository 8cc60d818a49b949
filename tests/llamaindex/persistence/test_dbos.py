"""DBOS: a run whose process died goes on in another one, and nothing is searched for twice."""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from pathlib import Path

import pytest

from tests.llamaindex.persistence.durable import Durable, die, endure, repeat
from tests.llamaindex.persistence.workflows import Kind
from tests.support.llama_model import call, calls

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize("kind", ["chat", "agent"])
def test_a_run_that_died_after_a_search_goes_on_without_another_one(
    start_process: Callable[[], ProcessPoolExecutor], tmp_path: Path, kind: Kind
) -> None:
    names = ["save_note", "get_weather", "ask_owner", "ask_guest"]
    searches = calls(*(call("tool_search", names=[name]) for name in names))
    run = Durable(database=str(tmp_path / "runs.db"), kind=kind, script=(searches, die))
    with start_process() as pool, pytest.raises(BrokenProcessPool):
        pool.submit(endure, run).result()

    script = (calls(call("get_weather", city="Oslo")), repeat)
    with start_process() as pool:
        report = pool.submit(endure, replace(run, script=script)).result()
    assert report.searched == []
    assert report.bound == [["tool_search", *names]] * 2
    assert report.text == "sunny in Oslo"
