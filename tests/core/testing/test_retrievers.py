"""The conformance check of retrievers finds each broken promise."""

import threading
from collections.abc import Callable, Collection, Sequence

import pytest

from deferred_tools import Hit, ToolSpec
from deferred_tools.testing.retrievers import check_retriever


class Honest:
    """A retriever that keeps its promises; each test breaks one."""

    def __init__(self) -> None:
        self.specs: tuple[ToolSpec, ...] = ()

    def index(self, specs: Sequence[ToolSpec]) -> None:
        self.specs = tuple(specs)

    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        words = query.lower().split()
        found = [
            Hit(spec.name, 1.0)
            for spec in self.specs
            if any(word in f"{spec.name} {spec.description}".lower() for word in words)
            if within is None or spec.name in within
        ]
        return found[: max(k, 0)]


class Filling(Honest):
    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        return super().search(query, k, within) or [Hit(spec.name, 0) for spec in self.specs[:k]]


class CuttingFirst(Honest):
    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        hits = super().search(query, k)
        return [hit for hit in hits if within is None or hit.name in within]


class Backwards(Honest):
    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        return super().search(query, 10**6, within)[::-1][: max(k, 0)]


class Growing(Honest):
    def index(self, specs: Sequence[ToolSpec]) -> None:
        self.specs += tuple(spec for spec in specs if spec not in self.specs)


class Deaf(Honest):
    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        return []


class Fickle(Honest):
    turn = 0.0

    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        self.turn += 1
        return [Hit(hit.name, self.turn) for hit in super().search(query, k, within)]


class Inverted(Honest):
    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        hits = super().search(query, k, within)
        return [Hit(hit.name, float(rank)) for rank, hit in enumerate(hits)]


class Torn(Honest):
    """Empties its catalogue before it fills it again, and lets others look meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self.looked = threading.Event()

    def index(self, specs: Sequence[ToolSpec]) -> None:
        self.specs = ()
        self.looked.clear()
        self.looked.wait(0.01)
        self.specs = tuple(specs)

    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        hits = super().search(query, k, within)
        self.looked.set()
        return hits


def test_a_retriever_that_keeps_its_promises_passes() -> None:
    check_retriever(Honest)


@pytest.mark.parametrize(
    ("make", "promise"),
    [
        (Filling, "so no filler"),
        (CuttingFirst, "before the cut"),
        (Backwards, "first"),
        (Growing, "replaces what was there"),
        (Deaf, "first"),
        (Fickle, "the same twice"),
        (Inverted, "scores fall"),
        (Torn, "a whole catalogue"),
    ],
)
def test_a_broken_promise_is_named(make: Callable[[], Honest], promise: str) -> None:
    with pytest.raises(AssertionError, match=promise):
        check_retriever(make)
