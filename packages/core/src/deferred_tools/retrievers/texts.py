"""Names and descriptions of a catalogue, to be looked through one tool after another."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from heapq import nsmallest

from deferred_tools.retrievers.base import Hit
from deferred_tools.retrievers.text import fold
from deferred_tools.spec import ToolSpec


@dataclass(frozen=True, slots=True)
class Text:
    """One tool: its names, a line each, and its description; folded, white space as one."""

    name: str
    """The name that a hit gives, as it is."""
    names: str
    description: str


@dataclass(frozen=True, slots=True)
class Texts:
    """A catalogue, in order."""

    tools: tuple[Text, ...]
    numbers: dict[str, int]

    @classmethod
    def of(cls, specs: Sequence[ToolSpec]) -> "Texts":
        """The texts of `specs`."""
        tools = tuple(
            Text(
                spec.name,
                "\n".join(plain(name) for name in dict.fromkeys((spec.name, spec.id, spec.tool))),
                plain(f"{spec.title} {spec.description}"),
            )
            for spec in specs
        )
        return cls(tools, {tool.name: number for number, tool in enumerate(tools)})

    def best(
        self, score: Callable[[Text], float], k: int, within: Collection[str] | None
    ) -> list[Hit]:
        """The `k` tools with the highest score above 0, of those named `within`, if given."""
        scored = ((score(self.tools[number]), number) for number in self._numbers(within))
        found = ((-points, number) for points, number in scored if points > 0)
        return [Hit(self.tools[number].name, -points) for points, number in nsmallest(k, found)]

    def _numbers(self, within: Collection[str] | None) -> Iterator[int]:
        if within is None:
            return iter(range(len(self.tools)))
        return (self.numbers[name] for name in set(within) if name in self.numbers)


def plain(text: str) -> str:
    """`text` folded, with one space for any white space."""
    return " ".join(fold(text).split())
