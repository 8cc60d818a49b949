"""A catalogue, indexed: tools by number, with their terms, names and directions.

It grows and shrinks tool by tool. Numbers rise in catalogue order. Hold `lock` while several
answers must be of one moment.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from deferred_tools.retrievers.engine import Engine
from deferred_tools.retrievers.identifiers import Identifiers
from deferred_tools.retrievers.lexicon import Lexicon
from deferred_tools.retrievers.meaning import Meaning, Vector
from deferred_tools.retrievers.postings import Filter
from deferred_tools.retrievers.text import Analyser
from deferred_tools.retrievers.tool_terms import ToolTerms
from deferred_tools.spec import ToolSpec


@dataclass(frozen=True, slots=True)
class IndexedTool:
    """What ranking needs of a tool, beside its postings."""

    spec: ToolSpec
    name: tuple[str, ...]
    """The different stems in its name."""
    direction: Vector | None


class Indexed:
    """The tools of one retriever."""

    def __init__(self, analyser: Analyser, meaning: Meaning | None, engine: Engine) -> None:
        self.analyser = analyser
        self.meaning = meaning
        self.engine = engine
        self.postings = engine.postings
        self.lock = engine.postings.lock
        self.lexicon = Lexicon(analyser, engine.postings, meaning or ())
        self.identifiers = Identifiers(self._is_common)
        self.tools: dict[int, IndexedTool] = {}
        self.numbers: dict[str, int] = {}
        self._sources: Counter[str] = Counter()
        self._next = 0
        self._masses: dict[int, float] = {}
        self._filters: WeakKeyDictionary[frozenset[str], Filter] = WeakKeyDictionary()

    def add(self, specs: Iterable[ToolSpec]) -> None:
        """Add tools behind those that are there; those of the same names are gone then."""
        by_name = {spec.name: spec for spec in specs}
        with self.lock:
            self.remove(by_name)
            self.postings.add_many(map(self._read, by_name.values()))
            self._changed()

    def _read(self, spec: ToolSpec) -> tuple[int, Mapping[str, int]]:
        """Know a tool; its number, and its terms for the postings."""
        number, terms = self._next, ToolTerms.of(spec, self.analyser)
        self._next += 1
        direction = self.meaning.vector(terms.counts()) if self.meaning else None
        self.numbers[spec.name] = number
        self.tools[number] = IndexedTool(spec, terms.name, direction)
        self.identifiers.add(number, spec)
        self._sources[spec.source] += 1
        self.lexicon.learn(terms.words)
        return number, terms.weights()

    def remove(self, names: Iterable[str]) -> None:
        """Remove tools; names that are not there are passed over."""
        with self.lock:
            for name in names:
                number = self.numbers.pop(name, None)
                if number is not None:
                    self.postings.remove(number)
                    spec = self.tools.pop(number).spec
                    self.identifiers.remove(number, spec)
                    self._sources[spec.source] -= 1
                    if not self._sources[spec.source]:
                        del self._sources[spec.source]
            self._changed()

    def sources(self) -> int:
        """From how many sources the tools are."""
        return len(self._sources)

    def allowed(self, within: Collection[str]) -> Filter | None:
        """A filter for the tools of these names, kept for a frozenset; None if they are all."""
        kept = self._filters.get(within) if isinstance(within, frozenset) else None
        if kept is None:
            numbers = (self.numbers[name] for name in within if name in self.numbers)
            kept = Filter(frozenset(numbers))
            if isinstance(within, frozenset):
                self._filters[within] = kept
        return None if len(kept.numbers) == len(self.tools) else kept

    def name_mass(self, number: int) -> float:
        """What all the words in the name of a tool tell together."""
        mass = self._masses.get(number)
        if mass is None:
            mass = sum(map(self.lexicon.rarity, self.tools[number].name))
            self._masses[number] = mass
        return mass

    def _is_common(self, word: str) -> bool:
        stem = self.analyser.stem(word)
        return word in self.analyser.stop_words or self.postings.holders(stem) > 1

    def _changed(self) -> None:
        self._masses.clear()
        self._filters.clear()
        self.lexicon.changed()
