"""Exact names: which tools a query names outright, whatever else it says."""

import re
from collections.abc import Callable, Iterator

from deferred_tools.retrievers.text import squash
from deferred_tools.spec import ToolSpec

VERBATIM, OWN, RESPELT, ALIAS = 4, 3, 2, 1
"""How a tool was named: by name or id, as its source calls it, respelt, by an alias."""
EVERYDAY_LENGTH = 16
"""Letters in the longest everyday word."""

_TOKEN = re.compile(r"[^\s,;!?\"'`()\[\]{}<>]+")
_Names = dict[str, dict[int, int]]


class Identifiers:
    """Every way to name each tool, by the tools' numbers."""

    def __init__(self, is_common: Callable[[str], bool]) -> None:
        """Take what tells whether a word says nothing, or is said of several tools."""
        self._is_common = is_common
        self._verbatim: _Names = {}
        self._respelt: _Names = {}

    def add(self, number: int, spec: ToolSpec) -> None:
        """Know the tool of that number by its names."""
        for names, name, how in self._names(spec):
            tools = names.setdefault(name, {})
            tools[number] = max(how, tools.get(number, 0))

    def remove(self, number: int, spec: ToolSpec) -> None:
        """Forget the tool again."""
        for names, name, _ in self._names(spec):
            names.get(name, {}).pop(number, None)
            if not names.get(name, True):
                del names[name]

    def named(self, query: str) -> dict[int, int]:
        """The tools that `query` names, each with how it was named."""
        text = query.strip()
        named = dict(self._respelt.get(squash(text), {})) | self._verbatim.get(text, {})
        for token in _TOKEN.findall(text):
            name = token.rstrip(".:")
            word = squash(name)
            tools = self._respelt.get(word, {}) | self._verbatim.get(name, {})
            if tools and not self._is_everyday(word):
                for number, how in tools.items():
                    named[number] = max(how, named.get(number, 0))
        return named

    def _names(self, spec: ToolSpec) -> Iterator[tuple[_Names, str, int]]:
        for name, how in ((spec.tool, OWN), (spec.name, VERBATIM), (spec.id, VERBATIM)):
            if name:
                yield self._verbatim, name, how
            if squashed := squash(name):
                yield self._respelt, squashed, RESPELT
        for alias in spec.aliases:
            if squashed := squash(alias):
                yield self._respelt, squashed, ALIAS

    def _is_everyday(self, word: str) -> bool:
        """Whether a name is an ordinary word: in a sentence it need not mean the tool."""
        return len(word) <= EVERYDAY_LENGTH and self._is_common(word)
