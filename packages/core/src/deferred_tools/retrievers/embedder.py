"""A model that embeds: what it must offer, and what it gives, checked.

Whatever it does wrong becomes an `EmbeddingError`.
"""

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deferred_tools.errors import HostError

Vector = NDArray[np.float32]
Matrix = NDArray[np.float32]

Embed = Callable[[list[str]], ArrayLike]
"""Texts in, a vector for each out, all of one length: lists of numbers, or an array."""


@runtime_checkable
class Embedder(Protocol):
    """A model that reads queries and documents in different ways, such as LangChain's `Embeddings`.

    Several threads may call it at once.
    """

    def embed_documents(self, texts: list[str]) -> ArrayLike:
        """A vector for each text, all of one length."""
        ...

    def embed_query(self, text: str) -> ArrayLike:
        """The vector of a query, as long as those of documents."""
        ...


@runtime_checkable
class TextEmbedder(Protocol):
    """The same by other names: LlamaIndex's `BaseEmbedding`."""

    def get_text_embedding_batch(self, texts: list[str]) -> ArrayLike:
        """See `Embedder.embed_documents`."""
        ...

    def get_query_embedding(self, query: str) -> ArrayLike:
        """See `Embedder.embed_query`."""
        ...


Model = Embedder | TextEmbedder | Embed
"""Whatever embeds texts."""


class EmbeddingError(HostError):
    """A model failed, or gave what are no vectors."""


class CheckedModel:
    """A model that gives vectors of length 1, or of length 0 for what says nothing, or fails."""

    def __init__(self, embed: Model, name: str) -> None:
        """Take a model, and what errors call it; a function reads queries as documents."""
        self._name = name
        self._documents: Embed
        self._query: Callable[[str], ArrayLike] | None = None
        if isinstance(embed, Embedder):
            self._documents, self._query = embed.embed_documents, embed.embed_query
        elif isinstance(embed, TextEmbedder):
            self._documents = embed.get_text_embedding_batch
            self._query = embed.get_query_embedding
        else:
            self._documents = embed

    def documents(self, texts: Sequence[str]) -> Matrix:
        """The vectors of at least one text: an array of (texts, numbers).

        Raises:
            EmbeddingError: The model failed, or gave what are no vectors.
        """
        return self._checked(self._documents, texts)

    def queries(self, texts: Sequence[str]) -> Matrix:
        """The same, read as queries: by a function all at once, by others one by one.

        Raises:
            EmbeddingError: The model failed, or gave what are no vectors.
        """
        query = self._query
        if query is None:
            return self._checked(self._documents, texts)
        return self._checked(lambda asked: [query(text) for text in asked], texts)

    def _checked(self, embed: Callable[[list[str]], object], texts: Sequence[str]) -> Matrix:
        try:
            rows = np.asarray(embed(list(texts)), np.float32)
        except Exception as error:  # its own words may hold anything, such as a key
            raise EmbeddingError(
                f"The model {self._name!r} failed to embed {len(texts)} text(s): "
                f"{type(error).__name__}."
            ) from error
        match rows.shape:
            case (count, numbers) if count == len(texts) and numbers > 0:
                pass
            case _:
                raise EmbeddingError(
                    f"The model {self._name!r} gave an array of {rows.shape} for {len(texts)} "
                    "text(s); it should give one vector for each."
                )
        if not np.isfinite(rows).all():
            raise EmbeddingError(
                f"The model {self._name!r} gave vectors with numbers that are not finite."
            )
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / np.where(lengths > 0, lengths, 1), np.float32)
