"""A retriever that does not fail: `bm25` answers while a better one cannot.

The better one may need a model or a server. It is indexed in the background if that takes long,
searched with a deadline, and left alone for a while after it failed; how many searches of it may
hang is bounded.
"""

import logging
import threading
import time
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future, wait
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

from deferred_tools.errors import DeferredToolsError
from deferred_tools.retrievers.base import Hit, Retriever
from deferred_tools.retrievers.bm25 import BM25Retriever
from deferred_tools.spec import ToolSpec

logger = logging.getLogger(__name__)

PAUSE = 30.0
"""Seconds for which the better retriever is left alone after it failed."""
HANGING = 4
"""Searches that may hang in it; with so many it is not asked until one of them ends."""

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Catalogue:
    """Both retrievers over the same tools."""

    specs: tuple[ToolSpec, ...]
    simple: Retriever
    better: Retriever
    indexing: Future[None]
    started: float = field(default_factory=time.monotonic)

    def again(self) -> "_Catalogue":
        """The same with another attempt to index the better one."""
        indexing = _start(self.better.index, self.specs)
        return _Catalogue(self.specs, self.simple, self.better, indexing)


class FallbackRetriever:
    """Ranks tools as a better retriever does, and while that cannot, as `bm25` does."""

    def __init__(
        self,
        better: Callable[[BM25Retriever], Retriever],
        *,
        name: str = "the better retriever",
        index_seconds: float | None = 5.0,
        search_seconds: float = 5.0,
    ) -> None:
        """Take what makes the better one.

        Args:
            better: Makes the better one, whose `index` and `search` may raise anything and take
                any time. It is given the other one, already indexed, to build on.
            name: What logs call it.
            index_seconds: How long `index` waits for the better one, None for as long as it takes.
                If that is not enough, `bm25` answers until it is ready.
            search_seconds: How long `search` waits for the better one.
        """
        self._better = better
        self._name = name
        self._index_seconds = index_seconds
        self._search_seconds = search_seconds
        self._catalogue: _Catalogue | None = None
        self._lock = threading.Lock()
        self._problem = ""
        self._paused_until = 0.0
        self._hanging: list[Future[list[Hit]]] = []

    @property
    def problem(self) -> str:
        """Why the simple retriever answers at the moment; empty if the better one does."""
        return self._problem

    def index(self, specs: Sequence[ToolSpec]) -> None:
        """Take `specs` in place of whatever was indexed before."""
        specs = tuple(specs)
        simple = BM25Retriever()
        simple.index(specs)
        better = self._better(simple)
        indexing = _start(better.index, specs)
        wait([indexing], self._index_seconds)
        self._catalogue = catalogue = _Catalogue(specs, simple, better, indexing)
        self._is_ready(catalogue)

    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        """The best `k` tools for `query`, best first; of those named `within`, if given."""
        catalogue = self._catalogue
        if catalogue is None:
            return []
        if self._is_ready(catalogue) and self._may_ask():
            hits = self._hits(_start(catalogue.better.search, query, k, within))
            if hits is not None:
                return hits
        return catalogue.simple.search(query, k, within)

    def _is_ready(self, catalogue: _Catalogue) -> bool:
        if not catalogue.indexing.done():
            self._tell(f"{self._name} is not ready yet: it indexes {len(catalogue.specs)} tools")
            return False
        error = catalogue.indexing.exception()
        if error is None:
            return True
        self._tell(self._reason(error))
        with self._lock:
            if self._catalogue is catalogue and time.monotonic() > catalogue.started + PAUSE:
                self._catalogue = catalogue.again()
        return False

    def _may_ask(self) -> bool:
        with self._lock:
            self._hanging = [search for search in self._hanging if not search.done()]
            return len(self._hanging) < HANGING and time.monotonic() >= self._paused_until

    def _hits(self, searching: Future[list[Hit]]) -> list[Hit] | None:
        """What the better retriever finds; None if it fails or does not end in time."""
        wait([searching], self._search_seconds)
        if not searching.done():
            with self._lock:
                self._hanging.append(searching)
            self._pause(f"{self._name} did not answer within {self._search_seconds:g} s")
            return None
        error = searching.exception()
        if error is not None:
            self._pause(self._reason(error))
            return None
        self._tell("")
        return searching.result()

    def _pause(self, problem: str) -> None:
        self._paused_until = time.monotonic() + PAUSE
        self._tell(f"{problem.rstrip('.')}. It is asked again after {PAUSE:g} s.")

    def _tell(self, problem: str) -> None:
        """Keep why the better retriever cannot answer, and log it when it changes."""
        if problem == self._problem:
            return
        self._problem = problem
        if problem:
            logger.warning("A simpler retriever ranks the tools: %s", problem)
        else:
            logger.info("%s ranks the tools again", self._name)

    def _reason(self, error: BaseException) -> str:
        """What went wrong; of an error that is not ours only its kind: it may hold a secret."""
        if isinstance(error, DeferredToolsError):
            return str(error)
        return f"{self._name} raised {type(error).__name__}"


def _start(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> Future[T]:
    """Run `work` in a thread that does not keep the process alive."""
    future: Future[T] = Future()
    context = copy_context()

    def run() -> None:
        try:
            result = context.run(work, *args, **kwargs)
        except BaseException as error:  # noqa: BLE001 the future tells it
            future.set_exception(error)
        else:
            future.set_result(result)

    thread = threading.Thread(target=run, name="deferred-tools-retriever", daemon=True)
    try:
        thread.start()
    except RuntimeError as error:  # there can be no more threads
        future.set_exception(error)
    return future
