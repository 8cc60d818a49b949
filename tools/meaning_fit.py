"""Ridge distillation: vectors of stems whose sums are as a sentence model's vectors of texts.

Each stem starts with what the model makes of its words, weighted by how rare it is. The fit then
changes these vectors as little as it can (Tikhonov) so that the mean over the stems of a lesson
comes near the lesson's direction, seen from the centre of all and along the axes in which they
differ most. Pure: knows lessons and vectors, not where they are from.
"""

import gzip
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from meaning_lessons import Lesson
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags

from deferred_tools.retrievers.embedder import Vector
from deferred_tools.retrievers.meaning import Meaning
from deferred_tools.retrievers.text import Analyser
from deferred_tools.retrievers.wordpiece import read_word_pieces

Doubles = NDArray[np.float64]

DIMENSIONS = 64
SEEN = 3
"""Lessons that a stem is in, to have a vector though the sentence model does not know its words."""
STRENGTH = 6.5e-6
"""How strongly a vector is held where it started, for each lesson."""
STEPS = 15
"""Of conjugate gradients; more fit the lessons better, and what is no lesson worse."""
LONGEST = 24
"""Letters of the longest word that is read."""
_FIT = 0.9995
"""Share of the numbers that fit into a byte; the few above are cut."""


@dataclass(frozen=True, slots=True)
class Student:
    """What was fitted: a row of whole numbers from -127 to 127 for each stem."""

    stems: Sequence[str]
    rows: NDArray[np.int16]

    @classmethod
    def of(cls, stems: Sequence[str], vectors: Doubles) -> "Student":
        """Round a vector for each stem; stems of which nothing is left are left out."""
        unit = np.quantile(np.abs(vectors), _FIT) / 127
        rows = np.clip(np.round(vectors / unit), -127, 127).astype(np.int16)
        telling = np.flatnonzero(rows.any(axis=1)).tolist()
        return cls([stems[number] for number in telling], rows[telling])

    def meaning(self) -> Meaning:
        """As the default retriever uses it."""
        return Meaning(self.stems, self._bytes(), self.rows.shape[1])

    def packed(self) -> bytes:
        """As the file of the package holds it; the same bytes each time."""
        head = json.dumps({"dimensions": self.rows.shape[1]}).encode()
        content = b"\n\n".join((head, "\n".join(self.stems).encode(), self._bytes()))
        return gzip.compress(content, 9, mtime=0)

    def _bytes(self) -> bytes:
        return (self.rows + 128).astype(np.uint8).tobytes()


def words_by_stem(lessons: Sequence[Lesson], analyser: Analyser) -> dict[str, list[str]]:
    """The stems that get a vector, sorted, and the words that each stands for."""
    pieces = read_word_pieces().numbers.keys()
    said = {word for lesson in lessons for _, text in lesson.texts for word in analyser.words(text)}
    words: dict[str, list[str]] = {}
    for word in sorted((said | pieces) - analyser.stop_words):
        if word.isascii() and word.isalpha() and 1 < len(word) <= LONGEST:
            words.setdefault(analyser.stem(word), []).append(word)
    seen = Counter(stem for lesson in lessons for stem in lesson.stems)
    return {
        stem: of_it
        for stem, of_it in sorted(words.items())
        if seen[stem] >= SEEN or not pieces.isdisjoint(of_it)
    }


def texts(lessons: Iterable[Lesson], words: Mapping[str, Sequence[str]]) -> list[str]:
    """All whose vectors `fit` needs, sorted."""
    found = {text for lesson in lessons for _, text in lesson.texts}
    return sorted(found.union(*words.values()))


def fit(
    lessons: Sequence[Lesson], words: Mapping[str, Sequence[str]], vectors: Mapping[str, Vector]
) -> Student:
    """Fit the stems of `words` to `lessons`.

    Args:
        lessons: Those without a stem of `words` are passed over.
        words: See `words_by_stem`.
        vectors: The sentence model's, of length 1, for each of `texts`.
    """
    stems = {stem: number for number, stem in enumerate(words)}
    lessons = [lesson for lesson in lessons if not stems.keys().isdisjoint(lesson.stems)]
    bags = _bags(lessons, stems)
    aims = _unit([_mixed(lesson.texts, vectors) for lesson in lessons])
    start = _unit([_of_words(stem, words[stem], vectors) for stem in words])
    centre = aims.mean(axis=0)
    aims, start = aims - centre, start - centre
    axes = np.linalg.eigh(aims.T @ aims)[1][:, : -DIMENSIONS - 1 : -1]
    axes = axes * np.sign(axes.sum(axis=0))  # which way they point is left to the processor
    aims, start = aims @ axes, start @ axes
    rarity = np.log((len(lessons) + 1) / (np.diff(bags.tocsc().indptr) + 1))
    start *= rarity[:, None]
    # As long as is best for what the fit starts with.
    said = bags @ start
    start *= np.sum(said * aims) / np.sum(said * said)
    return Student.of(list(words), start + _solve(bags, aims - bags @ start))


def _solve(bags: csr_matrix, missing: Doubles) -> Doubles:
    """The least change of the stems that brings `bags` nearer to what is `missing`.

    Conjugate gradients on the normal equations, each dimension by itself, stopped early.
    """
    strength = STRENGTH * bags.shape[0]
    change = np.zeros((bags.shape[1], missing.shape[1]))
    left = bags.T @ missing
    step, size = left.copy(), np.sum(left * left, axis=0)
    for _ in range(STEPS):
        ahead = bags.T @ (bags @ step) + strength * step
        far = size / np.sum(step * ahead, axis=0)
        change += far * step
        left -= far * ahead
        before, size = size, np.sum(left * left, axis=0)
        step = left + size / before * step
    return change


def _bags(lessons: Sequence[Lesson], stems: Mapping[str, int]) -> csr_matrix:
    """A row of shares for each lesson: how much of it is each stem."""
    cells = [
        (row, stems[stem], count)
        for row, lesson in enumerate(lessons)
        for stem, count in lesson.stems.items()
        if stem in stems
    ]
    rows, columns, counts = np.array(cells, np.float64).T
    bags = csr_matrix((counts, (rows, columns)), shape=(len(lessons), len(stems)))
    return (diags(1 / bags.sum(axis=1).A1) @ bags).tocsr()


def _of_words(stem: str, words: Sequence[str], vectors: Mapping[str, Vector]) -> Doubles:
    """The sum of the words of a stem; the stem itself, if it is a word, counts twice."""
    weights = [2 if word == stem else 1 for word in words]
    return _mixed(zip(weights, words, strict=True), vectors)


def _mixed(shares: Iterable[tuple[float, str]], vectors: Mapping[str, Vector]) -> Doubles:
    """The sum of the vectors of texts, each times its share."""
    parts = [share * vectors[text] for share, text in shares]
    return np.asarray(np.sum(parts, axis=0, dtype=np.float64))


def _unit(rows: Sequence[Doubles]) -> Doubles:
    """As rows of a matrix, of length 1."""
    matrix = np.array(rows)
    lengths: Doubles = np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix / np.where(lengths > 0, lengths, 1)
