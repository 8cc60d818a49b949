"""Whatever holds tools, as sources."""

from collections.abc import Iterable

from pydantic import BaseModel

from deferred_tools.sources.base import Source, Tool
from deferred_tools.sources.functions import FunctionSource


def gathered(given: Iterable[object]) -> tuple[Source, ...]:
    """The sources that the items stand for, in their order; loose tools become one of them."""
    found: list[Source] = []
    loose: list[object] = []
    place = 0
    for item in (item for one in given for item in _items(one)):
        if isinstance(item, Source):
            found.append(item)
            continue
        place = place if loose else len(found)
        loose.append(item)
    if loose:
        found.insert(place, FunctionSource(loose))
    return tuple(found)


def _items(given: object) -> Iterable[object]:
    """The sources or tools that one item stands for."""
    # A pydantic model can be iterated too, over its fields: a tool object of a framework.
    if isinstance(given, Source | Tool | str | BaseModel) or not isinstance(given, Iterable):
        return (given,)
    return given
