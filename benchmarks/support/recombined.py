"""A catalogue of any size, made of the words of real tools, and real questions to search it with.

Each field is a walk through the pairs of words that follow each other in that field of real
tools, as long as that of some real tool. So frequent words are as frequent as they are, and the
vocabulary does not grow with the catalogue: harder for a search engine than a real catalogue is.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path

from deferred_tools.evaluation.data import read_queries, read_tools
from deferred_tools.retrievers.text import Analyser, SearchText

SET = "bfcl"
SERVER = 20
"""Tools to a server."""
FIELDS = ("name", "server", "description", "parameters")


@dataclass(frozen=True, slots=True)
class Tool:
    """The words of one tool, by field."""

    name: list[str]
    server: list[str]
    description: list[str]
    parameters: list[str]

    @property
    def words(self) -> list[str]:
        """All words in one."""
        return self.name + self.server + self.description + self.parameters


class _Walks:
    """Sequences of words like some that were seen."""

    def __init__(self, seen: Sequence[Sequence[str]], dice: random.Random) -> None:
        self._seen = [words for words in seen if words]
        self._next: dict[str, list[str]] = {}
        self._dice = dice
        for words in self._seen:
            for left, right in pairwise(words):
                self._next.setdefault(left, []).append(right)

    def walk(self, length: int) -> list[str]:
        pick = self._dice.random
        walked: list[str] = []
        following: list[str] = []
        for _ in range(length):
            if not following:
                following = [self._seen[int(pick() * len(self._seen))][0]]
            walked.append(following[int(pick() * len(following))])
            following = self._next.get(walked[-1], [])
        return walked


def tools(folder: Path, seed: int = 7) -> Iterator[Tool]:
    """Tools without end, the same in every run: smaller catalogues begin larger ones."""
    dice = random.Random(seed)  # noqa: S311  # nothing secret
    words = Analyser().words
    texts = [
        SearchText.of(spec) for spec in read_tools(folder / "data" / SET / "tools.jsonl.gz").rows
    ]
    real = [
        Tool(words(text.name), [], words(text.description), words(text.parameters))
        for text in texts
    ]
    name = _Walks([tool.name for tool in real], dice)
    description = _Walks([tool.description for tool in real], dice)
    parameters = _Walks([tool.parameters for tool in real], dice)
    while True:
        server = name.walk(1)
        for _ in range(SERVER):
            like = dice.choice(real)
            yield Tool(
                name.walk(len(like.name)),
                server,
                description.walk(len(like.description)),
                parameters.walk(len(like.parameters)),
            )


def queries(folder: Path, length: int, count: int, seed: int = 11) -> list[list[str]]:
    """`count` queries of `length` words, from real questions.

    Up to 4 words all say something; of longer ones it is the question as asked, and the words
    that say nothing are left out then.
    """
    dice = random.Random(seed)  # noqa: S311  # nothing secret
    analyser = Analyser()
    asked = [
        analyser.words(query.text)
        for query in read_queries(folder / "data" / SET / "dev.jsonl.gz").rows
    ]
    made: list[list[str]] = []
    while len(made) < count:
        question = list(chain(*dice.sample(asked, 3)))
        telling = list(dict.fromkeys(word for word in question if word not in analyser.stop_words))
        if length > 4:
            made.append([word for word in telling if word in question[:length]])
        else:
            made.append(telling[:length])
    return made
