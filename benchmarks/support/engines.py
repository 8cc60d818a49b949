"""Search engines behind one face: ours, and peers as fast as they can be called.

Every engine is handed the same words, split beforehand, and asked for the best `K`. A peer that
is not installed raises ImportError when it is built.
"""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

from support.recombined import FIELDS, Tool

from deferred_tools.retrievers.impacts import Field, asked, impacts
from deferred_tools.retrievers.postings import Filter, Postings
from deferred_tools.retrievers.python_postings import PythonPostings

K = 5
OURS = {
    "name": Field(weight=2.5, slope=0.4, length=3),
    "server": Field(weight=2.0, slope=0.3, length=1),
    "description": Field(weight=1.0, slope=0.75, length=15),
    "parameters": Field(weight=0.6, slope=0.75, length=5),
}
SATURATION = 1.2
Words = Sequence[str]
Search = Callable[[Words], object]


@dataclass(frozen=True)
class Engine:
    """A built index."""

    search: Search
    within: Callable[[Collection[int]], Search] | None
    """Prepares a search of a few tools only, where the engine has that."""


@dataclass(frozen=True)
class Changing(Engine):
    """One whose tools come and go."""

    add: Callable[[int, Tool], object]
    remove: Callable[[int], object]


def ours(make: Callable[[], Postings], tools: Sequence[Tool]) -> Changing:
    """Our engines, under plain fielded BM25 with rarity taken at query time."""
    postings = make()
    postings.add_many((number, _impacts(tool)) for number, tool in enumerate(tools))

    def search(words: Words, within: Filter | None = None) -> object:
        return postings.best(_query(postings, words), K, within)

    return Changing(
        search=search,
        within=lambda numbers: partial(search, within=Filter(frozenset(numbers))),
        add=lambda number, tool: postings.add(number, _impacts(tool)),
        remove=postings.remove,
    )


def _impacts(tool: Tool) -> dict[str, int]:
    return impacts(((field, getattr(tool, name)) for name, field in OURS.items()), SATURATION)


def _query(postings: Postings, words: Words) -> Mapping[str, int]:
    total = len(postings)
    rarity = {}
    for word in words:
        held = postings.holders(word)
        if held:
            rarity[word] = math.log1p((total - held + 0.5) / (held + 0.5))
    return asked(rarity)[0]


def ours_numpy(tools: Sequence[Tool]) -> Engine:
    """Our engine for large catalogues."""
    return ours(import_module("deferred_tools.retrievers.numpy_postings").NumpyPostings, tools)


def bm25s(tools: Sequence[Tool]) -> Engine:
    """bm25s with numpy, without the wrapping of its `retrieve`."""
    made, numpy = _bm25s("numpy", tools), import_module("numpy")
    topk = import_module("bm25s.selection").topk
    k = min(K, len(tools))

    def search(words: Words, mask: Any = None) -> object:
        known = made.get_tokens_ids(words)
        return topk(made.get_scores_from_ids(known, mask), k, "numpy") if known else ()

    def within(numbers: Collection[int]) -> Search:
        mask = numpy.zeros(len(tools), numpy.float32)
        mask[list(numbers)] = 1
        return partial(search, mask=mask)

    return Engine(search, within)


def bm25s_numba(tools: Sequence[Tool]) -> Engine:
    """bm25s with numba: its compiled function itself, in one thread."""
    numpy = import_module("numpy")
    retrieve = import_module("bm25s.numba.retrieve_utils")._retrieve_internal_jitted_serial
    made = _bm25s("numba", tools)
    scores = made.scores
    k = min(K, len(tools))
    kinds = numpy.dtype("float32"), numpy.dtype("int32")

    def search(words: Words) -> object:
        known = numpy.array(made.get_tokens_ids(words), numpy.int32)
        ends = numpy.array([0, len(known)], numpy.int32)
        return retrieve(
            known, ends, k, True, *kinds,
            scores["data"], scores["indptr"], scores["indices"], scores["num_docs"],
        )  # fmt: skip

    search(tools[0].words)  # compiles
    return Engine(search, None)


def _bm25s(backend: str, tools: Iterable[Tool]) -> Any:
    made = import_module("bm25s").BM25(backend=backend)
    made.index([tool.words for tool in tools], show_progress=False)
    return made


def tantivy(tools: Sequence[Tool]) -> Engine:
    """tantivy in memory, over four fields."""
    library = import_module("tantivy")
    builder = library.SchemaBuilder()
    for name in FIELDS:
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="freq")
    builder.add_unsigned_field("number", stored=True, indexed=True, fast=True)
    schema = builder.build()
    index = library.Index(schema)
    writer = index.writer(num_threads=1)

    for number, tool in enumerate(tools):
        fields = {name: " ".join(getattr(tool, name)) for name in FIELDS}
        document = library.Document(**fields)
        document.add_unsigned("number", number)
        writer.add_document(document)
    writer.commit()
    index.reload()
    boosts = {name: field.weight for name, field in OURS.items()}
    must = library.Occur.Must

    def search(words: Words, allowed: Any = None) -> object:
        query = index.parse_query(" ".join(words), list(FIELDS), boosts)
        if allowed is not None:
            query = library.Query.boolean_query([(must, query), (must, allowed)])
        searcher = index.searcher()
        hits = searcher.search(query, K, count=False).hits
        return [(searcher.doc(address)["number"], score) for score, address in hits]

    def within(numbers: Collection[int]) -> Search:
        allowed = library.Query.term_set_query(schema, "number", list(numbers))
        return partial(search, allowed=allowed)

    return Engine(search, within)


ENGINES: dict[str, Callable[[Sequence[Tool]], Engine]] = {
    "ours": partial(ours, PythonPostings),
    "ours, numpy": ours_numpy,
    "bm25s": bm25s,
    "bm25s, numba": bm25s_numba,
    "tantivy": tantivy,
}
