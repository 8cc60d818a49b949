"""A small model of meaning for tests: a text is its words, and some mean the same."""

import re
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

NUMBERS = 512
SAME = {"mail": "message", "letter": "message", "bill": "invoice", "temperature": "forecast"}


class WordModel:
    """Counts the texts that it was asked to embed."""

    def __init__(self) -> None:
        self.documents: list[str] = []
        self.queries: list[str] = []

    def embed_documents(self, texts: list[str]) -> NDArray[np.float64]:
        self.documents += texts
        return np.stack([_vector(text) for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float64]:
        self.queries.append(text)
        return _vector(text)


def _vector(text: str) -> NDArray[np.float64]:
    vector = np.zeros(NUMBERS)
    for word in re.findall(r"[a-z0-9]+", text.lower()):
        vector[crc32(SAME.get(word, word).encode()) % NUMBERS] += 1
    return vector
