"""The retrievers that come with the package, by name."""

from collections.abc import Callable
from functools import partial

from deferred_tools.errors import ConfigurationError
from deferred_tools.retrievers.base import Retriever
from deferred_tools.retrievers.bm25 import BM25Retriever
from deferred_tools.retrievers.keyword import KeywordRetriever
from deferred_tools.retrievers.packaged import packaged_vectors
from deferred_tools.retrievers.regex import RegexRetriever
from deferred_tools.retrievers.substring import SubstringRetriever

_PLAIN: dict[str, Callable[[], Retriever]] = {
    "bm25": BM25Retriever,
    "words": partial(BM25Retriever, meaning=False),
    "keyword": KeywordRetriever,
    "regex": RegexRetriever,
    "substring": SubstringRetriever,
}
_WITH_A_MODEL = ("embeddings", "hybrid")
NAMES = (*_PLAIN, *_WITH_A_MODEL)
"""All of them."""
INDEX_SECONDS = 5.0
"""How long new tools wait for a model before `bm25` answers in its place."""


def builtin(name: str, *, index_seconds: float | None = INDEX_SECONDS) -> Callable[[], Retriever]:
    """What makes a new retriever called `name`; those that it makes share one model, if any.

    Args:
        name: One of `NAMES`.
        index_seconds: How long new tools may wait for a model; None for as long as it takes.

    Raises:
        ConfigurationError: There is none of that name, or its extra is not installed.
    """
    if name in _PLAIN:
        return _PLAIN[name]
    if name not in _WITH_A_MODEL:
        raise ConfigurationError(
            f"There is no retriever {name!r}. Choose one of: {', '.join(NAMES)}; or give what "
            "makes an object with the methods `index` and `search`."
        )
    vectors = packaged_vectors()
    # They need numpy, which is there if the model is.
    from deferred_tools.retrievers.embeddings import embeddings  # noqa: PLC0415
    from deferred_tools.retrievers.hybrid import hybrid  # noqa: PLC0415

    make = {"embeddings": embeddings, "hybrid": hybrid}[name]
    return make(vectors, index_seconds=index_seconds)
