"""Vectors on disk, so that a restart need not ask a model again.

A folder of files that are written whole and never changed: any number of processes may share it
without locks. A file that is damaged or not ours is left alone and costs only itself; a folder
that cannot be written costs only the next start. Texts are kept as hashes.
"""

import contextlib
import logging
import os
import struct
import tempfile
from collections.abc import Collection, Mapping
from hashlib import blake2b
from pathlib import Path
from zlib import crc32

import numpy as np

from deferred_tools.retrievers.embedder import Vector

logger = logging.getLogger(__name__)

MOST_BYTES = 256 * 1024 * 1024
"""What a folder may hold: 170,000 vectors of 384 numbers."""
SMALL_FILES = 32
"""Small files of one model that are left beside each other; one more, and they become one."""

_MAGIC = b"dt-vec-1"
_HEAD = struct.Struct("<8sIII")  # magic, checksum of the rest, vectors, numbers of each
_KEY = 16
_SUFFIX = ".vectors"
_UNFINISHED = ".unfinished"


def key_of(text: str) -> bytes:
    """What a text is known by: 16 bytes."""
    return blake2b(text.encode(errors="surrogatepass"), digest_size=_KEY).digest()


class VectorCache:
    """Vectors by model and text. Threads and processes may share a folder."""

    def __init__(self, folder: Path, *, most_bytes: int = MOST_BYTES) -> None:
        """Take a folder, which is made when it is needed, and how much it may hold.

        Above that the files that nobody used for longest are removed.
        """
        self._folder = folder
        self._most_bytes = most_bytes

    def get(self, model: str, keys: Collection[bytes]) -> dict[bytes, Vector]:
        """The vectors that are known of those `keys`."""
        found: dict[bytes, Vector] = {}
        wanted = set(keys)
        for path in self._files(model) if wanted else ():
            vectors = _read(path)
            known = wanted & vectors.keys()
            if known:
                found.update((key, vectors[key]) for key in known)
                with contextlib.suppress(OSError):
                    os.utime(path)
        return found

    def put(self, model: str, vectors: Mapping[bytes, Vector]) -> None:
        """Keep `vectors`. A folder that cannot be written is logged."""
        if not vectors:
            return
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            small = [path for path in self._files(model) if self._is_small(path)]
            merged = small if len(small) >= SMALL_FILES else []
            _write(self._folder, _prefix(model), _together(merged, dict(vectors)))
            for path in merged:
                path.unlink(missing_ok=True)
            self._shrink()
        except OSError as error:
            logger.warning(
                "Vectors cannot be kept in %s (%s): the next start asks the model again. "
                "Give a folder that can be written.",
                self._folder,
                error.strerror,
            )

    def _files(self, model: str) -> list[Path]:
        return sorted(self._folder.glob(f"{_prefix(model)}*{_SUFFIX}"))

    def _is_small(self, path: Path) -> bool:
        with contextlib.suppress(OSError):
            return path.stat().st_size * SMALL_FILES < self._most_bytes
        return False

    def _shrink(self) -> None:
        """Remove the files that were not used for longest, and what a crash has left."""
        files: list[tuple[float, int, Path]] = []
        for path in self._folder.glob(f"*{_SUFFIX}*"):
            with contextlib.suppress(OSError):  # another process has removed it
                state = path.stat()
                files.append((state.st_mtime, state.st_size, path))
        total = 0
        for _, size, path in sorted(files, reverse=True):
            total += size
            if total > self._most_bytes:
                path.unlink(missing_ok=True)


def _prefix(model: str) -> str:
    return f"{key_of(model).hex()}-"


def _together(paths: Collection[Path], vectors: dict[bytes, Vector]) -> dict[bytes, Vector]:
    """`vectors` and those of the files, if they are as long: others are of another model."""
    together: dict[bytes, Vector] = {}
    for path in paths:
        together |= _read(path)
    length = len(next(iter(vectors.values())))
    return {k: vector for k, vector in (together | vectors).items() if len(vector) == length}


def _read(path: Path) -> dict[bytes, Vector]:
    """What a file holds: nothing if it is gone, damaged or of somebody else."""
    try:
        content = path.read_bytes()
    except OSError:
        return {}
    if len(content) < _HEAD.size:
        return {}
    magic, checksum, count, length = _HEAD.unpack_from(content)
    body = memoryview(content)[_HEAD.size :]
    if magic != _MAGIC or len(body) != count * (_KEY + 4 * length) or crc32(body) != checksum:
        return {}
    split = count * _KEY
    keys = [bytes(body[start : start + _KEY]) for start in range(0, split, _KEY)]
    rows = np.frombuffer(body[split:], "<f4").reshape(count, length).astype(np.float32, copy=False)
    return dict(zip(keys, rows, strict=True))


def _write(folder: Path, prefix: str, vectors: Mapping[bytes, Vector]) -> None:
    rows = np.stack(list(vectors.values())).astype("<f4", copy=False)
    body = b"".join(vectors) + rows.tobytes()
    head = _HEAD.pack(_MAGIC, crc32(body), *rows.shape)
    handle, unfinished = tempfile.mkstemp(f"{_SUFFIX}{_UNFINISHED}", prefix, folder)
    with os.fdopen(handle, "wb") as file:
        file.write(head + body)
    Path(unfinished).rename(unfinished.removesuffix(_UNFINISHED))
