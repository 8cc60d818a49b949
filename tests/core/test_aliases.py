"""Aliases from a file are searched and never shown; misses tell which are missing."""

import json
import logging
import stat
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools import Aliases, Caller, MissLog, Session, Toolset, ToolSpec
from deferred_tools.errors import ConfigurationError
from deferred_tools.testing.sources import ScriptedSource, ScriptedTool, ready

ROOT = Caller.root()
TOOLS = (ScriptedTool("create_issue", "Creates an issue."), ScriptedTool("zip", "Packs files."))
SPEC = ToolSpec(source="s", tool="create issue", name="s__create_issue")


def toolset(*plugins: object) -> Toolset:
    return Toolset([ScriptedSource("s", ready(*TOOLS))], plugins=plugins)


def file(folder: Path, text: str) -> Path:
    path = folder / "aliases.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_words_of_a_file_find_their_tool_in_any_language(tmp_path: Path) -> None:
    path = file(tmp_path, '"s__create_issue" = ["Fehler melden", "不具合を報告", "grievance"]\n')
    with toolset(Aliases.from_file(path)) as tools:
        for query in ("Fehler melden", "不具合を報告", "I have a grievance"):
            found = tools.search(Session(caller=ROOT), {"query": query}).enabled
            assert [tool.name for tool in found] == ["s__create_issue"], query


def test_aliases_cost_no_byte_of_the_prompt_and_change_no_digest() -> None:
    with toolset() as plain, toolset(Aliases({"*": ("grievance",)})) as told:
        assert told.prompt(ROOT) == plain.prompt(ROOT)
        assert [s.digest for s in told.registry.specs] == [s.digest for s in plain.registry.specs]
        assert all(spec.aliases == ("grievance",) for spec in told.registry.specs)


@pytest.mark.parametrize("key", ["s__create_issue", "s__create issue", "s__create*", "s__*", "*"])
def test_a_key_is_a_name_an_id_or_a_pattern(key: str) -> None:
    assert Aliases({key: ("bug",)}).deferred_tools_aliases(SPEC) == ("bug",)


def test_a_word_that_several_keys_give_is_there_once() -> None:
    words = {"s__*": ("bug", "ticket"), "s__create_issue": ("bug",), "other": ("no",)}
    assert Aliases(words).deferred_tools_aliases(SPEC) == ("bug", "ticket")


def test_keys_that_fit_no_tool_are_named_on_request() -> None:
    words = {"s__create issue": ("a",), "s__crate*": ("b",), "x": ("c",), "s__create*": ("d",)}
    assert Aliases(words).unused([SPEC]) == ("s__crate*", "x")


LIST = 'must be a list of texts, such as "{}" = ["word", "other word"]'
EMPTY = "holds no word, or an empty one; give one or remove it"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('"a" = ["x"]\n"b" = "y"', [f"line 2: b: {LIST.format('b')}"]),
        ('"a" = [1]', [f"line 1: a: {LIST.format('a')}"]),
        ('"a" = []', [f"line 1: a: {EMPTY}"]),
        ('"a" = [" "]', [f"line 1: a: {EMPTY}"]),
        ('# x\na.b = ["x"]', ["line 2: a: is a table", "quotes around a name that holds a dot"]),
        ('"a*b" = ["x"]', ["line 1: a*b: is no name, id or `prefix*`", "at the end alone"]),
        ('"a" = []\n"b" = 1', [f"line 1: a: {EMPTY}", f"line 2: b: {LIST.format('b')}"]),
    ],
)
def test_what_cannot_be_used_is_named_with_its_place_and_the_cure(
    tmp_path: Path, text: str, told: Sequence[str]
) -> None:
    path = file(tmp_path, text)
    with pytest.raises(ConfigurationError) as raised:
        Aliases.from_file(path)
    assert all(part in str(raised.value) for part in [f"problem(s) in {path}:", *told])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("words.json", '{"a*": ["x", "y"], "b": ["x", "y"]}'),
        ("words.yaml", "a*: &words [x, y]\nb: *words\n"),
    ],
)
def test_a_file_may_be_yaml_or_json(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert Aliases.from_file(tmp_path / name) == Aliases({"a*": ("x", "y"), "b": ("x", "y")})


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"no file .*none\.toml"):
        Aliases.from_file(tmp_path / "none.toml")
    with pytest.raises(ConfigurationError, match=r"aliases\.toml: line 1, .*not valid TOML"):
        Aliases.from_file(file(tmp_path, '"b" = ]'))
    (tmp_path / "twice.json").write_text('{"a": ["x"],\n"a": ["y"]}')
    with pytest.raises(ConfigurationError, match="line 2: a: is written more than once"):
        Aliases.from_file(tmp_path / "twice.json")


# --- misses


def misses(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_search_that_finds_nothing_is_kept_with_time_and_kind_of_caller(tmp_path: Path) -> None:
    path = tmp_path / "misses.jsonl"
    with toolset(MissLog(path)) as tools:
        session = Session(caller=Caller.subagent("eve"))
        tools.search(session, {"query": "zzqx\nvlörp"})
        tools.search(session, {"query": "create an issue"})
        tools.search(session, {"names": ["none"]})
    (miss,) = misses(path)
    assert (miss.pop("caller"), miss.pop("query")) == ("subagent", "zzqx vlörp")
    assert datetime.fromisoformat(miss.pop("time")).utcoffset() is not None
    assert not miss, "nothing else, and no name of a caller"


@pytest.mark.parametrize(
    "secret", ["sk-a1b2c3d4e5f6a7b8c9", "eve@example.org", "password=hunter2", "x" * 50]
)
def test_what_looks_like_a_secret_is_masked(tmp_path: Path, secret: str) -> None:
    path = tmp_path / "misses.jsonl"
    MissLog(path).deferred_tools_searched(ROOT, f"log in with {secret} please", ())
    assert [miss["query"] for miss in misses(path)] == ["log in with *** please"]


def test_only_the_owner_may_read_the_file(tmp_path: Path) -> None:
    path = tmp_path / "misses.jsonl"
    MissLog(path).deferred_tools_searched(ROOT, "x", ())
    assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0


def test_a_file_that_is_full_grows_no_more_and_that_is_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "misses.jsonl"
    log = MissLog(path, max_bytes=200)
    for _ in range(10):
        log.deferred_tools_searched(ROOT, "something rare", ())
    assert 0 < path.stat().st_size <= 200
    assert "full" in caplog.text


def test_a_log_that_cannot_be_written_fails_no_search(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with toolset(MissLog(tmp_path)) as tools, caplog.at_level(logging.WARNING):
        assert tools.search(Session(caller=ROOT), {"query": "zzqx vlorp"}).misses
    assert "a miss was not written" in caplog.text


def test_threads_share_a_log_line_by_line(tmp_path: Path) -> None:
    path = tmp_path / "misses.jsonl"
    log = MissLog(path)

    def search(who: int) -> None:
        for n in range(20):
            log.deferred_tools_searched(ROOT, f"query {who} {n}", ())

    threads = [Thread(target=search, args=(who,)) for who in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({miss["query"] for miss in misses(path)}) == 80


@given(st.text(max_size=600))
def test_any_query_is_one_line_of_json(
    tmp_path_factory: pytest.TempPathFactory, query: str
) -> None:
    path = tmp_path_factory.mktemp("misses") / "misses.jsonl"
    MissLog(path).deferred_tools_searched(ROOT, query + "x", ())
    assert len(misses(path)) == 1
