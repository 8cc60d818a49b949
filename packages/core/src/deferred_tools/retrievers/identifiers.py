"""Exact names: which tools a query names outright, whatever else it says."""

import re
from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass, field

from deferred_tools.retrievers.text import STOP_WORDS, Analyser, squash
from deferred_tools.spec import ToolSpec

VERBATIM, OWN, RESPELT, ALIAS = 4, 3, 2, 1
"""How a tool was named: by name or id, as its source calls it, respelt, by an alias."""
EVERYDAY_LENGTH = 16
"""Letters in the longest everyday word."""

_TOKEN = re.compile(r"[^\s,;!?\"'`()\[\]{}<>]+")
_Names = dict[str, dict[int, int]]


@dataclass(frozen=True, slots=True)
class Identifiers:
    """Every way to name each tool. Tools are numbered in catalogue order."""

    verbatim: _Names = field(default_factory=dict)
    """Names as they are written, to the tools and how it names them."""
    respelt: _Names = field(default_factory=dict)
    """The letters and digits of names and aliases alone, likewise."""
    everyday: set[str] = field(default_factory=set)
    """Letters of names that are ordinary words: in a sentence they need not mean the tool."""

    @classmethod
    def of(
        cls, specs: Sequence[ToolSpec], analyser: Analyser, postings: Mapping[str, Sized]
    ) -> "Identifiers":
        """Collect the names of `specs`; `postings` tells how many tools hold a word."""
        found = cls()
        for number, spec in enumerate(specs):
            for name, how in {spec.tool: OWN, spec.name: VERBATIM, spec.id: VERBATIM}.items():
                found.verbatim.setdefault(name, {})[number] = how
                found.respelt.setdefault(squash(name), {})[number] = RESPELT
            for alias in spec.aliases:
                found.respelt.setdefault(squash(alias), {}).setdefault(number, ALIAS)
        for names in (found.verbatim, found.respelt):
            names.pop("", None)
        for word in found.respelt:
            if word in STOP_WORDS or (
                len(word) <= EVERYDAY_LENGTH and len(postings.get(analyser.stem(word), ())) > 1
            ):
                found.everyday.add(word)
        return found

    def named(self, query: str) -> dict[int, int]:
        """The tools that `query` names, each with how it was named."""
        text = query.strip()
        named = dict(self.respelt.get(squash(text), {})) | self.verbatim.get(text, {})
        for token in _TOKEN.findall(text):
            name = token.rstrip(".:")
            word = squash(name)
            if word not in self.everyday:
                for tools in (self.respelt.get(word, {}), self.verbatim.get(name, {})):
                    for number, how in tools.items():
                        named[number] = max(how, named.get(number, 0))
        return named
