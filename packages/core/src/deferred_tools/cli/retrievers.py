"""Which retriever a command is to use: one of ours, or anybody's by the path of its factory."""

from collections.abc import Callable
from functools import reduce
from importlib import import_module
from typing import Annotated

import typer

from deferred_tools.errors import ConfigurationError
from deferred_tools.retrievers.base import Retriever
from deferred_tools.retrievers.builtin import builtin

DEFAULT = "bm25"
OneRetriever = Annotated[
    str,
    typer.Option(
        "--retriever",
        metavar="NAME",
        help="A retriever by name, or your own as module:factory.",
    ),
]


def new_retriever(name: str) -> Retriever:
    """A new retriever: a built-in by name, or what `module:factory` makes when it is called.

    Raises:
        ConfigurationError: There is none of that name, or the factory cannot be imported or
            makes something else.
    """
    if ":" not in name:
        # What a command measures or shows must not depend on how fast a model is.
        return builtin(name, index_seconds=None)()
    made = _factory(name)()
    if not isinstance(made, Retriever):
        raise ConfigurationError(
            f"{name!r} makes {type(made).__name__!r}, which is no retriever: it needs the methods "
            "`index` and `search`."
        )
    return made


def _factory(path: str) -> Callable[[], object]:
    module, _, attribute = path.partition(":")
    try:
        found: object = reduce(getattr, attribute.split("."), import_module(module))
    except Exception as error:  # whatever the module's own code raises
        raise ConfigurationError(
            f"The retriever {path!r} cannot be imported: {type(error).__name__}: {error}. Install "
            "its distribution, or name its folder in PYTHONPATH."
        ) from error
    if not callable(found):
        raise ConfigurationError(
            f"The retriever {path!r} cannot be called: give a class, or a function that makes one."
        )
    return found
