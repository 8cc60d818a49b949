"""What a request says: its words, and its parts if it asks for several things."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from deferred_tools.retrievers.clauses import CLAUSES, is_clause, parts
from deferred_tools.retrievers.text import Analyser


@dataclass(frozen=True, slots=True)
class Phrase:
    """A piece of a request."""

    words: tuple[str, ...]
    """In order."""
    stems: tuple[str, ...]
    """Of the words that say something."""

    @classmethod
    def joined(cls, phrases: Iterable["Phrase"]) -> "Phrase":
        """Several in a row, as one."""
        phrases = tuple(phrases)
        return cls(
            tuple(chain.from_iterable(phrase.words for phrase in phrases)),
            tuple(chain.from_iterable(phrase.stems for phrase in phrases)),
        )


@dataclass(frozen=True, slots=True)
class Request:
    """A request, read."""

    whole: Phrase
    clauses: tuple[Phrase, ...]
    """The parts of a request that asks for several things; none if it asks for one."""

    @classmethod
    def of(cls, text: str, analyser: Analyser) -> "Request":
        """Read `text`."""
        phrases = [(part, _phrase(part, analyser)) for part in parts(text)]
        telling = [phrase for part, phrase in phrases if is_clause(part)]
        clauses = tuple(telling[:CLAUSES]) if len(telling) > 1 else ()
        return cls(Phrase.joined(phrase for _, phrase in phrases), clauses)


def _phrase(text: str, analyser: Analyser) -> Phrase:
    chunks = [analyser.chunk(run) for run in analyser.runs(text)]
    return Phrase(
        tuple(word for chunk in chunks for word in chunk.words),
        tuple(stem for chunk in chunks for stem in chunk.stems),
    )
