"""Vectors on disk: whole or not at all, for any number of processes, within bounds."""

import logging
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.retrievers import vector_cache
from deferred_tools.retrievers.embedder import Vector
from deferred_tools.retrievers.vector_cache import SMALL_FILES, VectorCache, key_of


def vector(*numbers: float) -> Vector:
    return np.array(numbers, np.float32)


def same(left: dict[bytes, Vector], right: dict[bytes, Vector]) -> bool:
    return left.keys() == right.keys() and all(np.array_equal(left[k], right[k]) for k in left)


KEPT = {key_of("a"): vector(1, 2), key_of("b"): vector(3, 4)}


def test_what_was_put_is_found_by_model_and_text(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path / "made" / "when" / "needed")
    assert cache.get("m", KEPT) == {}
    cache.put("m", KEPT)
    assert same(cache.get("m", [*KEPT, key_of("c")]), KEPT)
    assert same(cache.get("m", [key_of("b")]), {key_of("b"): KEPT[key_of("b")]})
    assert cache.get("other", KEPT) == {}
    assert cache.get("m", []) == {}


def test_the_texts_are_not_on_disk(tmp_path: Path) -> None:
    VectorCache(tmp_path).put("m", {key_of("secret text"): vector(1)})
    assert all(b"secret" not in path.read_bytes() for path in tmp_path.iterdir())


@given(damage=st.integers(min_value=0), flip=st.integers(1, 255))
def test_a_damaged_file_costs_only_itself(
    tmp_path_factory: pytest.TempPathFactory, damage: int, flip: int
) -> None:
    folder = tmp_path_factory.mktemp("cache")
    cache = VectorCache(folder)
    cache.put("m", KEPT)
    (path,) = folder.iterdir()
    content = bytearray(path.read_bytes())
    content[damage % len(content)] ^= flip
    path.write_bytes(content)
    cache.put("m", {key_of("c"): vector(5, 6)})
    assert same(cache.get("m", [*KEPT, key_of("c")]), {key_of("c"): vector(5, 6)})


@pytest.mark.parametrize("content", [b"", b"dt", b"hello" * 100, b"dt-vec-1" + b"\xff" * 40])
def test_a_foreign_or_short_file_is_left_alone(tmp_path: Path, content: bytes) -> None:
    cache = VectorCache(tmp_path)
    cache.put("m", KEPT)
    (path,) = tmp_path.iterdir()
    foreign = path.with_name(path.name.replace(path.name[-12:], "0.vectors"))
    foreign.write_bytes(content)
    (tmp_path / "notes.txt").write_bytes(content)
    assert same(cache.get("m", KEPT), KEPT)
    assert (tmp_path / "notes.txt").read_bytes() == content


def test_files_are_whole_from_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(self: Path, target: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "rename", stop)
    cache = VectorCache(tmp_path)
    cache.put("m", KEPT)
    assert cache.get("m", KEPT) == {}


def test_a_folder_that_cannot_be_written_costs_only_the_next_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = VectorCache(tmp_path / "file" / "folder")
    with caplog.at_level(logging.WARNING):
        cache.put("m", KEPT)
    assert cache.get("m", KEPT) == {}
    assert "Give a folder that can be written" in caplog.text


def test_small_files_become_one(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path)
    kept = {key_of(str(number)): vector(number, 1) for number in range(SMALL_FILES + 1)}
    for key, numbers in kept.items():
        cache.put("m", {key: numbers})
    assert len(list(tmp_path.iterdir())) == 1
    assert same(cache.get("m", kept), kept)


def test_vectors_of_another_length_do_not_survive_that(tmp_path: Path) -> None:
    cache = VectorCache(tmp_path)
    for number in range(SMALL_FILES):
        cache.put("m", {key_of(str(number)): vector(number, 1)})
    cache.put("m", {key_of("new"): vector(1, 2, 3)})
    assert cache.get("m", [key_of("0"), key_of("new")]).keys() == {key_of("new")}


def test_a_folder_stays_within_its_bound_and_loses_what_was_not_used(tmp_path: Path) -> None:
    size = 8 + 12 + 16 + 400
    cache = VectorCache(tmp_path, most_bytes=3 * size)
    for number in range(3):
        cache.put(f"m{number}", {key_of("a"): np.full(100, number, np.float32)})
        for path in tmp_path.iterdir():  # as if an hour ago
            os.utime(path, (path.stat().st_atime - 3600, path.stat().st_mtime - 3600))
    assert cache.get("m0", [key_of("a")])
    cache.put("m3", {key_of("a"): np.full(100, 3, np.float32)})
    known = [number for number in range(4) if cache.get(f"m{number}", [key_of("a")])]
    assert known == [0, 2, 3]


def test_what_a_crash_left_counts_and_goes(tmp_path: Path) -> None:
    (tmp_path / f"old.vectors{vector_cache._UNFINISHED}").write_bytes(b"x" * 1000)
    os.utime(tmp_path / f"old.vectors{vector_cache._UNFINISHED}", (0, 0))
    cache = VectorCache(tmp_path, most_bytes=1000)
    cache.put("m", KEPT)
    assert same(cache.get("m", KEPT), KEPT)
    assert len(list(tmp_path.iterdir())) == 1


def test_many_may_put_and_get_at_once(tmp_path: Path) -> None:
    kept = {key_of(str(number)): vector(number, 1) for number in range(200)}

    def put(part: list[bytes]) -> None:
        VectorCache(tmp_path).put("m", {key: kept[key] for key in part})

    keys = list(kept)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(put, [keys[start : start + 10] for start in range(0, 200, 10)]))
    assert same(VectorCache(tmp_path).get("m", kept), kept)
