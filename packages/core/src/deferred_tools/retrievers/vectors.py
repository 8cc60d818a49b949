"""Vectors of texts by one model: asked for once, however many retrievers share them.

Knows texts, not tools.
"""

import logging
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence, Set

import numpy as np

from deferred_tools.errors import ConfigurationError
from deferred_tools.retrievers.embedder import (
    CheckedModel,
    EmbeddingError,
    Matrix,
    Model,
    Vector,
)
from deferred_tools.retrievers.vector_cache import VectorCache, key_of

logger = logging.getLogger(__name__)

REMEMBERED = 100_000
"""Texts whose vectors stay in memory."""
REMEMBERED_QUERIES = 1_000
"""Queries whose vectors stay in memory."""
KEPT_EVERY = 1_024
"""Texts after which vectors are written to the cache: an interruption loses no more."""
TOLD_EVERY = 5.0
"""Seconds between two log lines about progress."""
END_SECONDS = 5.0
"""How long the end of the process waits for a model that is at work."""

Progress = Callable[[int, int], None]
"""Is told how many texts, of how many, are embedded."""


class Vectors:
    """What one model makes of texts. For any number of retrievers and threads."""

    def __init__(
        self,
        embed: Model,
        *,
        model: str = "",
        cache: VectorCache | None = None,
        batch: int = 32,
        progress: Progress | None = None,
    ) -> None:
        """Take a model.

        Args:
            embed: The model.
            model: What its vectors depend on, such as name and version: those that are kept under
                another name are not used.
            cache: Keeps vectors of documents. Default: they are gone with the process.
            batch: How many texts the model is given at once.
            progress: Is told after each batch. Default: a log line (INFO) every few seconds.

        Raises:
            ConfigurationError: There is a cache, but no name for what it keeps.
        """
        if cache is not None and not model:
            raise ConfigurationError(
                "A cache of vectors must know whose they are: give `model` beside `cache`, "
                "such as model='text-embedding-3-small'."
            )
        self._name = model or type(embed).__name__
        self._model = CheckedModel(embed, self._name)
        self._cache = cache
        self._batch = batch
        self._progress = progress
        self._known: dict[bytes, Vector] = {}
        self._embedding = threading.Lock()
        self._known_queries: dict[str, Vector] = {}
        self._work = _Work()
        # A process that ends while a thread is within native code of a model would crash.
        weakref.finalize(self, self._work.end)

    def documents(self, texts: Sequence[str]) -> Matrix:
        """The vectors of `texts`: an array of (texts, numbers), each row of length 1, or 0.

        Blocks as long as the model needs. What it gave before it failed is kept.

        Raises:
            EmbeddingError: The model failed, or gave what are no vectors.
        """
        by_key = {key_of(text): text for text in texts}
        with self._work:
            vectors = self._recalled(by_key.keys())
            missing = {key: text for key, text in by_key.items() if key not in vectors}
            vectors |= self._embedded(missing)
        return self._stacked([vectors[key_of(text)] for text in texts])

    def queries(self, texts: Sequence[str]) -> Matrix:
        """The vectors of `texts`, read as queries; the rest is as in `documents`."""
        known = self._known_queries
        vectors = {text: vector for text in texts if (vector := known.get(text)) is not None}
        missing = [text for text in dict.fromkeys(texts) if text not in vectors]
        if missing:
            with self._work:
                vectors |= zip(missing, self._model.queries(missing), strict=True)
            if len(known) >= REMEMBERED_QUERIES:
                self._known_queries = known = {}
            known.update(vectors)
        return self._stacked([vectors[text] for text in texts])

    def _recalled(self, keys: Set[bytes]) -> dict[bytes, Vector]:
        """The vectors of those `keys` that are in memory or in the cache."""
        known = self._known
        vectors = {key: vector for key in keys if (vector := known.get(key)) is not None}
        if self._cache is not None and len(vectors) < len(keys):
            kept = self._cache.get(self._name, keys - vectors.keys())
            with self._embedding:
                self._remember(kept)
            vectors |= kept
        return vectors

    def _remember(self, vectors: Mapping[bytes, Vector]) -> None:
        if len(self._known) >= REMEMBERED:
            self._known = {}
        self._known.update(vectors)

    def _embedded(self, missing: Mapping[bytes, str]) -> dict[bytes, Vector]:
        """Ask the model; the shortest texts first, since models pad a batch to its longest."""
        order = sorted(missing, key=lambda key: len(missing[key]))
        progress = self._progress or _logged(self._name)
        vectors: dict[bytes, Vector] = {}
        unkept: dict[bytes, Vector] = {}
        try:
            for start in range(0, len(order), self._batch):
                part = order[start : start + self._batch]
                self._work.check()
                with self._embedding:  # one thread at a time; the next finds what this one got
                    given = self._asked({k: missing[k] for k in part if k not in self._known})
                    vectors |= {key: self._known[key] for key in part if key not in given} | given
                    self._remember(given)
                unkept |= given
                if len(unkept) >= KEPT_EVERY:
                    self._keep(unkept)
                    unkept = {}
                progress(len(vectors), len(order))
        finally:
            self._keep(unkept)
        return vectors

    def _asked(self, texts: Mapping[bytes, str]) -> dict[bytes, Vector]:
        if not texts:
            return {}
        return dict(zip(texts, self._model.documents(list(texts.values())), strict=True))

    def _keep(self, vectors: Mapping[bytes, Vector]) -> None:
        if self._cache is not None:
            self._cache.put(self._name, vectors)

    def _stacked(self, vectors: list[Vector]) -> Matrix:
        lengths = {len(vector) for vector in vectors}
        if len(lengths) > 1:
            raise EmbeddingError(
                f"Vectors of the model {self._name!r} are {sorted(lengths)} numbers long. Has it "
                "changed? Then give it another name, so that what is kept of it is not used."
            )
        return np.stack(vectors) if vectors else np.zeros((0, 0), np.float32)


class _Work:
    """Knows how many threads are at work, and can end that."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._threads = 0
        self._ended = False

    def __enter__(self) -> None:
        self.check()
        with self._changed:
            self._threads += 1

    def __exit__(self, *error: object) -> None:
        with self._changed:
            self._threads -= 1
            self._changed.notify_all()

    def check(self) -> None:
        """Go on, unless work was ended."""
        if self._ended:
            raise EmbeddingError("The process is about to end.")

    def end(self) -> None:
        """Let nobody begin, and wait for those who are at work."""
        self._ended = True
        with self._changed:
            self._changed.wait_for(lambda: self._threads == 0, END_SECONDS)


def _logged(model: str) -> Progress:
    """Progress as a log line every few seconds; none if it is over before that."""
    told = time.monotonic()

    def tell(done: int, total: int) -> None:
        nonlocal told
        if time.monotonic() - told >= TOLD_EVERY:
            told = time.monotonic()
            logger.info("%s has embedded %d of %d texts", model, done, total)

    return tell
