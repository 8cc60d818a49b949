"""Does a retriever keep its promises? For who writes one.

def test_my_retriever() -> None:
    check_retriever(MyRetriever)
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event

from deferred_tools.retrievers.base import Hit, Retriever
from deferred_tools.spec import ToolSpec

_THREADS = 4
_ROUNDS = 20

_TOOLS = (
    ToolSpec(source="mail", tool="send_message", description="Send a message to a person"),
    ToolSpec(source="mail", tool="list_folders", description="List the folders of a mailbox"),
    ToolSpec(source="weather", tool="get_forecast", description="Weather forecast for a city"),
    *(
        ToolSpec(source=source, tool="read_invoice", description="Read one invoice")
        for source in ("north", "east", "south", "west")
    ),
)
_OTHERS = tuple(
    ToolSpec(source=source, tool="read_invoice", description="Read one invoice")
    for source in ("spring", "summer")
)
_QUERIES = ("invoice", "message", "forecast", "folders")
_NONSENSE = "zzqx vlorp"


def check_retriever(make: Callable[[], Retriever]) -> None:
    """Check a retriever that `make` makes against what `Retriever` promises.

    Raises AssertionError, which says what was not kept.
    """
    _finds_evidence_and_nothing_else(make())
    _ranks_and_cuts(make())
    _sees_only_what_is_within(make())
    _replaces_what_was_indexed(make())
    _answers_many_threads(make())


def _finds_evidence_and_nothing_else(retriever: Retriever) -> None:
    _expect(retriever.search("invoice", 5) == [], "a search before `index` finds nothing")
    retriever.index(_TOOLS)
    names = {spec.name for spec in _TOOLS}
    for query, tool in (
        ("invoice", "north__read_invoice"),
        ("message", "mail__send_message"),
        ("FORECAST", "weather__get_forecast"),
    ):
        hits = retriever.search(query, 1)
        _expect(_names(hits) == [tool], f"{query!r} finds {tool!r} first, not {hits}")
    for query in ("", "  \n", _NONSENSE):
        hits = retriever.search(query, 5)
        _expect(hits == [], f"{query!r} finds nothing, so no filler, not {hits}")
    for query in _QUERIES:
        found = _names(retriever.search(query, 99))
        _expect(len(found) == len(set(found)), f"no tool is found twice: {found}")
        _expect(names.issuperset(found), f"only indexed tools are found: {found}")
    for query in ("(" * 50, "[", "invoice" * 10_000, "\ud800 \x00 \u202e"):
        retriever.search(query, 5)


def _ranks_and_cuts(retriever: Retriever) -> None:
    retriever.index(_TOOLS)
    for query in _QUERIES:
        hits = retriever.search(query, 99)
        scores = [hit.score for hit in hits]
        _expect(scores == sorted(scores, reverse=True), f"scores fall: {hits}")
        _expect(hits == retriever.search(query, 99), f"{query!r} gives the same twice")
        for k in (0, 1, 2):
            cut = retriever.search(query, k)
            _expect(cut == hits[:k], f"k={k} gives the first {k} of {hits}, not {cut}")
    tied = _names(retriever.search("invoice", 99))
    order = [spec.name for spec in _TOOLS if spec.tool == "read_invoice"]
    _expect(tied == order, f"ties keep the order of the catalogue: {order}, not {tied}")


def _sees_only_what_is_within(retriever: Retriever) -> None:
    retriever.index(_TOOLS)
    last = "west__read_invoice"
    for within in ([last, "none__such"], {last}, (last, last)):
        found = _names(retriever.search("invoice", 1, within))
        _expect(found == [last], f"`within` applies before the cut: {last!r}, not {found}")
    hits = retriever.search("invoice", 5, ())
    _expect(hits == [], f"nothing is found within nothing, not {hits}")


def _replaces_what_was_indexed(retriever: Retriever) -> None:
    retriever.index(_TOOLS)
    retriever.index(_OTHERS)
    found = _names(retriever.search("invoice", 99))
    wanted = [spec.name for spec in _OTHERS]
    _expect(found == wanted, f"`index` replaces what was there: {wanted}, not {found}")
    retriever.index(())
    hits = retriever.search("invoice", 5)
    _expect(hits == [], f"nothing is found in nothing, not {hits}")


def _answers_many_threads(retriever: Retriever) -> None:
    """Searches from several threads, while the catalogue is replaced, see one or the other."""
    whole = []
    for specs in (_OTHERS, _TOOLS):
        retriever.index(specs)
        whole.append([retriever.search(query, 99) for query in _QUERIES])
    done = Event()

    def search() -> list[tuple[str, list[Hit]]]:
        odd: list[tuple[str, list[Hit]]] = []
        while not done.is_set() and not odd:
            for query, *right in zip(_QUERIES, *whole, strict=True):
                hits = retriever.search(query, 99)
                if hits not in right:
                    odd.append((query, hits))
        return odd

    with ThreadPoolExecutor(_THREADS) as pool:
        searches = [pool.submit(search) for _ in range(_THREADS)]
        try:
            for turn in range(_ROUNDS):
                retriever.index((_OTHERS, _TOOLS)[turn % 2])
        finally:
            done.set()
        for searching in searches:
            odd = searching.result()
            _expect(not odd, f"a search meets a whole catalogue, the old or the new: {odd}")


def _names(hits: list[Hit]) -> list[str]:
    return [hit.name for hit in hits]


def _expect(kept: bool, promise: str) -> None:
    if not kept:
        raise AssertionError(promise)
