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


def builtin(name: str) -> Callable[[], Retriever]:
    """What makes a new retriever called `name`.

    Raises:
        ConfigurationError: There is none of that name.
    """
    if name not in _BUILTIN:
        raise ConfigurationError(
            f"There is no retriever {name!r}. Choose one of: {', '.join(_BUILTIN)}; or give what "
            "makes an object with the methods `index` and `search`."
        )
    return _BUILTIN[name]
