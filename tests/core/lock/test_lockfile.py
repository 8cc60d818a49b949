"""The lock file: the same bytes for the same tools, and whole or refused."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deferred_tools.errors import ConfigurationError
from deferred_tools.lock import ToolsLock, lockfile
from tests.core.lock.test_tools_lock import OBJECTS
from tests.core.lock.tools import READ, SEND, lock_of, spec_of

same_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def written(lock: ToolsLock, folder: Path) -> Path:
    path = folder / "tools.lock"
    lock.write(path)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(ConfigurationError) as raised:
        ToolsLock.from_file(path)
    assert repr(str(path)) in str(raised.value)
    return str(raised.value)


def test_the_file_is_sorted_and_ascii_and_ends_with_a_line(tmp_path: Path) -> None:
    one = written(lock_of(SEND, spec_of(tool="\u200bé", name="")), tmp_path).read_bytes()
    other = written(lock_of(spec_of(tool="\u200bé", name=""), SEND), tmp_path).read_bytes()
    assert one == other
    assert one.isascii()
    assert one.endswith(b"}\n")
    assert json.loads(one)["version"] == 1
    assert list(json.loads(one)["tools"]["mail__send"]) == [
        "annotations", "description", "digest", "input_schema", "output_schema", "server", "title",
    ]  # fmt: skip


@same_folder
@given(st.text(st.characters(), min_size=1), st.text(st.characters()), OBJECTS, st.none() | OBJECTS)
def test_what_is_written_is_what_is_read(
    tmp_path: Path, tool: str, text: str, schema: dict[str, Any], output: dict[str, Any] | None
) -> None:
    odd = spec_of(tool=tool, name="", description=text, input_schema=schema, output_schema=output)
    lock = lock_of(SEND, odd)
    assert ToolsLock.from_file(written(lock, tmp_path)) == lock


def test_half_a_character_of_a_server_is_kept(tmp_path: Path) -> None:
    lock = lock_of(spec_of(description="\ud800"))
    assert ToolsLock.from_file(written(lock, tmp_path)) == lock


def test_another_layout_of_the_file_is_no_change(tmp_path: Path) -> None:
    path = written(lock_of(SEND, READ), tmp_path)
    path.write_text("\ufeff" + json.dumps(json.loads(path.read_text())), "utf-8")
    assert ToolsLock.from_file(path) == lock_of(SEND, READ)


@same_folder
@given(st.binary() | st.text().map(str.encode) | OBJECTS.map(lambda o: json.dumps(o).encode()))
def test_any_bytes_are_a_lock_or_refused(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "tools.lock"
    path.write_bytes(data)
    refusal(path)


@same_folder
@given(st.data())
def test_a_damaged_file_is_refused_or_says_the_same(tmp_path: Path, data: Any) -> None:
    lock = lock_of(SEND, READ)
    whole = written(lock, tmp_path).read_bytes()
    start = data.draw(st.integers(0, len(whole) - 1))
    end = data.draw(st.integers(start, len(whole)))
    put = data.draw(st.binary(max_size=3))
    path = tmp_path / "tools.lock"
    path.write_bytes(whole[:start] + put + whole[end:])
    try:
        read = ToolsLock.from_file(path)
    except ConfigurationError:
        return
    # White space, or whole tools that are missing: withheld, not let through.
    assert read.tools.items() <= lock.tools.items()


def edited(change: Callable[[dict[str, Any]], object]) -> Callable[[str], str]:
    """The file after a change of its document."""

    def edit(text: str) -> str:
        document = json.loads(text)
        change(document)
        return json.dumps(document)

    return edit


def of_send(**told: Any) -> Callable[[str], str]:
    return edited(lambda document: document["tools"]["mail__send"].update(told))


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (lambda text: "", "it is empty"),
        (lambda text: " \n", "it is empty"),
        (lambda text: text[:-40], "it is not valid JSON"),
        (lambda text: "[" * 100_000, "it is not valid JSON"),
        (lambda text: f'{{"version": {"9" * 5000}}}', "it is not valid JSON"),
        (lambda text: "<<<<<<< ours\n" + text, "it is not valid JSON"),
        (lambda text: "[]", "it does not say its version"),
        (lambda text: '{"tools": {}}', "it does not say its version"),
        (lambda text: '{"version": true, "tools": {}}', "it does not say its version"),
        (lambda text: '{"version": 2, "all": "new"}', "it is of version 2, and this "),
        (lambda text: '{"version": 0, "tools": {}}', "the shape of version 1"),
        (lambda text: '{"version": 1, "tools": []}', "the shape of version 1"),
        (lambda text: '{"version": 1, "tools": {}, "x": 1}', "the shape of version 1"),
        (lambda text: '{"version": 1, "tools": {}, "tools": {}}', "'tools' is written twice"),
        (of_send(description="Send a parcel"), "'mail__send' does not fit what is written"),
        (of_send(digest=""), "the digest of the tool 'mail__send' does not fit"),
        (of_send(annotations=None), "'mail__send' does not have the shape"),
        (of_send(title=1), "'mail__send' does not have the shape"),
        (of_send(input_schema=[]), "'mail__send' does not have the shape"),
        (of_send(more=1), "'mail__send' does not have the shape"),
        (edited(lambda d: d["tools"].update(x=None)), "'x' does not have the shape"),
        (edited(lambda d: d["tools"].update(x=d["tools"]["mail__send"])), "the tool 'x' does not"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_relied_on_is_refused_with_the_reason_and_the_cure(
    tmp_path: Path, edit: Callable[[str], str], why: str
) -> None:
    path = written(lock_of(SEND, READ), tmp_path)
    path.write_text(edit(path.read_text()))
    told = refusal(path)
    assert why in told
    assert "Upgrade deferred-tools" in told or "Restore it from your version control" in told


def test_a_schema_that_would_exhaust_the_stack_is_refused(tmp_path: Path) -> None:
    schema: dict[str, Any] = {}
    for _ in range(250):
        schema = {"not": schema}
    path = written(lock_of(spec_of(input_schema=schema)), tmp_path)
    assert "does not have the shape of a locked tool" in refusal(path)


def test_a_file_of_absurd_size_is_neither_read_nor_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(lock_of(SEND), tmp_path)
    monkeypatch.setattr(lockfile, "_LARGEST", 500)
    assert "it has more than 500 bytes" in refusal(path)
    before = path.read_bytes()
    with pytest.raises(ConfigurationError, match="it would have more than 500 bytes"):
        lock_of(SEND, READ).write(path)
    assert path.read_bytes() == before


def test_a_file_that_is_not_there_is_told_with_the_cure(tmp_path: Path) -> None:
    assert "Write it with `deferred-tools lock`" in refusal(tmp_path / "tools.lock")


def test_a_folder_in_its_place_is_told(tmp_path: Path) -> None:
    assert "cannot be read: Is a directory" in refusal(tmp_path)
    with pytest.raises(ConfigurationError, match="cannot be written"):
        lock_of(SEND).write(tmp_path)


def test_writing_replaces_the_whole_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = written(lock_of(SEND, READ), tmp_path)
    link = tmp_path / "link.lock"
    link.symlink_to(path)
    lock_of(replace(SEND, title="Post")).write(link)
    assert ToolsLock.from_file(path) == lock_of(replace(SEND, title="Post"))
    assert {found.name for found in tmp_path.iterdir()} == {"link.lock", "tools.lock"}
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o644
