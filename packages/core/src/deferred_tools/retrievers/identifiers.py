"""Exact names: which tools a query names outright, whatever else it says."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from deferred_tools.retrievers.text import squash
from deferred_tools.spec import ToolSpec

VERBATIM, OWN, RESPELLED, ALIAS = 4, 3, 2, 1
"""How a tool was named: by name or id, by its source's name for it, respelled, by an alias."""

_TOKEN = re.compile(r"[^\s,;!?\"'`()\[\]{}<>]+")


@dataclass(frozen=True, slots=True)
class Identifiers:
    """Every way to name each tool; tools are numbered in catalogue order."""

    whole: dict[str, dict[int, int]]
    """What a query names when it says nothing else: key to numbers and how they were named."""
    inside: dict[str, dict[int, int]]
    """What a word of a longer query names: without names that are everyday words."""

    @classmethod
    def of(cls, specs: Sequence[ToolSpec], everyday: Callable[[str], bool]) -> "Identifiers":
        """Collect the names of `specs`; `everyday` tells a name that is an ordinary word."""
        found = cls({}, {})
        for number, spec in enumerate(specs):
            found._add(f"={spec.tool}", number, OWN, everyday(spec.tool))
            for name in (spec.name, spec.id):
                found._add(f"={name}", number, VERBATIM, everyday(name))
            for name in (spec.name, spec.id, spec.tool):
                found._add(squash(name), number, RESPELLED, everyday(name))
            for alias in spec.aliases:
                found._add(squash(alias), number, ALIAS, everyday(alias))
        return found

    def named(self, query: str) -> dict[int, int]:
        """The numbers of the tools that `query` names, each with how it was named."""
        found: dict[int, int] = {}
        text = query.strip()
        for names, key in (
            (self.whole, f"={text}"),
            (self.whole, squash(text)),
            *(
                (self.inside, key)
                for token in _TOKEN.findall(text)
                for key in (f"={token.rstrip('.:')}", squash(token))
            ),
        ):
            for number, how in names.get(key, {}).items():
                found[number] = max(how, found.get(number, 0))
        return found

    def _add(self, key: str, number: int, how: int, everyday: bool) -> None:
        if not key:
            return
        for names in (self.whole,) if everyday else (self.whole, self.inside):
            named = names.setdefault(key, {})
            named[number] = max(how, named.get(number, 0))
