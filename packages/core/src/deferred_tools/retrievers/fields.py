"""What each tool says, by field, as terms: the stems of its words and a few more.

Beside the stem of a word a name holds the word as it stands, so that `organ` finds `list_organ`
before `list_organization`; and two words that the catalogue also writes as one (`GitHub`,
`github`) are held as one too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from deferred_tools.retrievers.text import STOP_WORDS, Analyser, SearchText
from deferred_tools.spec import ToolSpec

NAME = "name"
FIELDS = (NAME, "source", "description", "parameters", "details", "labels")
_MARK = "="


@dataclass(frozen=True, slots=True)
class Fields:
    """The terms of a catalogue, tool by tool in its order."""

    tools: list[dict[str, list[str]]]
    """Field to terms, of each tool."""
    names: list[tuple[str, ...]]
    """The different stems in the name of each tool."""
    joined: dict[str, tuple[str, ...]]
    """Two words written as one, which the catalogue never does, to their stems."""

    @classmethod
    def of(cls, specs: Sequence[ToolSpec], analyser: Analyser) -> "Fields":
        """Read `specs`."""
        chunks = _Chunks(analyser)
        tools: list[dict[str, list[str]]] = []
        compounds: list[tuple[list[str], list[str]]] = []
        for spec in specs:
            text = SearchText.of(spec)
            terms: dict[str, list[str]] = {}
            for field in FIELDS:
                runs = analyser.runs(getattr(text, field))
                terms[field] = list(chain.from_iterable(map(chunks.__getitem__, runs)))
                in_two = [chunks.joined[run] for run in runs if run in chunks.joined]
                if in_two:
                    compounds.append((terms[field], in_two))
            tools.append(terms)
        names = [tuple(dict.fromkeys(terms[NAME])) for terms in tools]
        known = set(chain.from_iterable(chunks.values()))
        for held, in_two in compounds:
            held += [word for word in in_two if word in known]
        joined = {word: chunks[run] for run, word in chunks.joined.items()}
        for spec, terms in zip(specs, tools, strict=True):
            words = analyser.words(spec.tool)
            for left, right in pairwise(words):
                joined[left + right] = (analyser.stem(left), analyser.stem(right))
            terms[NAME] += [
                as_written(word)
                for word in words
                if word not in STOP_WORDS and analyser.stem(word) != word
            ]
        return cls(
            tools, names, {word: stems for word, stems in joined.items() if word not in known}
        )


def as_written(word: str) -> str:
    """The term of a word as it stands in a name, apart from all stems."""
    return f"{_MARK}{word}"


def is_stem(term: str) -> bool:
    """Whether `term` is a stem."""
    return not term.startswith(_MARK)


class _Chunks(dict[str, tuple[str, ...]]):
    """The stems of every run seen, analysed once."""

    def __init__(self, analyser: Analyser) -> None:
        super().__init__()
        self.joined: dict[str, str] = {}
        self._analyser = analyser

    def __missing__(self, run: str) -> tuple[str, ...]:
        chunk = self._analyser.chunk(run)
        if chunk.joined:
            self.joined[run] = chunk.joined
        self[run] = chunk.stems
        return chunk.stems
