"""LlamaIndex's own way to many tools: an ObjectIndex, asked for the few that fit a message."""

import math
import re
from collections.abc import Sequence
from zlib import crc32

from llama_index.core import VectorStoreIndex
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.objects import ObjectIndex
from llama_index.core.tools import BaseTool

TOP = 5
WIDTH = 384
"""Numbers in a vector, as small sentence models have."""


class HashEmbedding(BaseEmbedding):
    """Words hashed into a vector: deterministic, and much cheaper than any model."""

    def _get_text_embedding(self, text: str) -> list[float]:
        vector = [0.0] * WIDTH
        for word in re.findall(r"[a-z0-9]+", text.lower()):
            vector[crc32(word.encode()) % WIDTH] += 1.0
        length = math.sqrt(sum(number * number for number in vector)) or 1.0
        return [number / length for number in vector]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


def index(tools: Sequence[BaseTool]) -> ObjectIndex[BaseTool]:
    """All tools, embedded."""
    return ObjectIndex.from_objects(tools, index_cls=VectorStoreIndex, embed_model=HashEmbedding())
