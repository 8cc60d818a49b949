"""What one tool says, as weighted terms: of the tool alone, whatever else is in the catalogue.

Terms are the stems of words, and two kinds more, marked. Neighbouring words of a name, and two
words written as one (`GitHub`, `e-mail`), are held as one, so that `filesystem` finds
`read_file_system`. And a name holds its words as they stand, so that `organ` finds `list_organ`
before `list_organization`.
"""

from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass
from itertools import pairwise

from deferred_tools.retrievers.impacts import Field, impacts
from deferred_tools.retrievers.text import Analyser, SearchText
from deferred_tools.spec import ToolSpec

NAME = "name"
FIELDS = {
    NAME: Field(weight=2.0, slope=0.6, length=4),
    "source": Field(weight=2.5, slope=0.3, length=2),
    "lead": Field(weight=0.8, slope=0.24, length=8),
    "description": Field(weight=0.4, slope=0.75, length=12),
    "parameters": Field(weight=0.9, slope=0.75, length=5),
    "details": Field(weight=0.4, slope=0.4, length=25),
    "labels": Field(weight=2.0, slope=0.4, length=4),
}
"""How much a word says in each field; see `SearchText` for what they hold."""
SATURATION = 1.0
"""How soon more of the same word says nothing new (BM25's k1)."""
_TELLING = {NAME: 4, "lead": 3, "parameters": 1, "labels": 2}
_AS_ONE, _AS_WRITTEN = "+", "="


@dataclass(frozen=True, slots=True)
class ToolTerms:
    """The terms of a tool."""

    fields: Mapping[str, list[str]]
    """The terms of each field, repeated as they are."""
    words: Set[str]
    """All words, as they are written."""

    @classmethod
    def of(cls, spec: ToolSpec, analyser: Analyser) -> "ToolTerms":
        """Read a tool."""
        text = SearchText.of(spec)
        fields: dict[str, list[str]] = {}
        written: set[str] = set()
        for field in FIELDS:
            terms = fields[field] = []
            for words, stems, joined in map(analyser.chunk, analyser.runs(getattr(text, field))):
                terms += stems
                written.update(words)
                if joined:
                    terms.append(as_one(analyser.stem(joined)))
        rest = Counter(fields["description"]) - Counter(fields["lead"])
        fields["description"] = list(rest.elements())
        name = analyser.words(spec.tool)
        fields[NAME] += [as_one(analyser.stem(left + right)) for left, right in pairwise(name)]
        fields[NAME] += [
            as_written(word)
            for word in name
            if word not in analyser.stop_words and analyser.stem(word) != word
        ]
        return cls(fields, written)

    @property
    def name(self) -> tuple[str, ...]:
        """The different stems in the name."""
        return tuple(filter(is_stem, dict.fromkeys(self.fields[NAME])))

    def weights(self) -> dict[str, int]:
        """What each term says of the tool, for `Postings`."""
        return impacts(((FIELDS[name], terms) for name, terms in self.fields.items()), SATURATION)

    def counts(self) -> Counter[str]:
        """How often each stem speaks of what the tool is, for its direction."""
        counts: Counter[str] = Counter()
        for field, times in _TELLING.items():
            for term in self.fields[field]:
                counts[term] += times
        return counts

    def fields_of(self, term: str) -> tuple[str, ...]:
        """The names of the fields that hold `term`."""
        return tuple(field for field, terms in self.fields.items() if term in terms)


def as_one(stem: str) -> str:
    """The term of two words as one, by their common stem."""
    return f"{_AS_ONE}{stem}"


def as_written(word: str) -> str:
    """The term of a word as it stands in a name."""
    return f"{_AS_WRITTEN}{word}"


def is_stem(term: str) -> bool:
    """Whether a term is the stem of a word, not a marked one."""
    return term[0] not in (_AS_ONE, _AS_WRITTEN)
