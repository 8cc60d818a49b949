"""The retrievers that come with the package, by name."""

from collections.abc import Callable

from deferred_tools.errors import ConfigurationError
from deferred_tools.retrievers.base import Retriever
from deferred_tools.retrievers.bm25 import BM25Retriever
from deferred_tools.retrievers.keyword import KeywordRetriever
from deferred_tools.retrievers.regex import RegexRetriever
from deferred_tools.retrievers.substring import SubstringRetriever

_BUILTIN: dict[str, Callable[[], Retriever]] = {
    "bm25": BM25Retriever,
    "keyword": KeywordRetriever,
    "regex": RegexRetriever,
    "substring": SubstringRetriever,
}


def make(name: str) -> Retriever:
    """A new retriever called `name`. Raises ConfigurationError for a name that is not known."""
    if name not in _BUILTIN:
        raise ConfigurationError(
            f"There is no built-in retriever {name!r}. "
            f"Choose one of: {', '.join(_BUILTIN)}; or give any object with the methods "
            "`index` and `search`."
        )
    return _BUILTIN[name]()
