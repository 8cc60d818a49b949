"""Level-1 lines: of each tool the first sentence that says something and tells it apart.

A tool is compared with the tools of its own source that are given, and with no others: another
server changes nobody's line, and of what a caller may not see nothing shows. So a view makes the
lines of what it holds; a caller who sees fewer tools may see an earlier sentence of one.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from deferred_tools.limits import Limits
from deferred_tools.sentences import Sentences
from deferred_tools.spec import ToolSpec, ToolSummary, one_line

_READ = 20
"""How much of a description is read, in lines of the longest."""
_SENTENCES = 12
_PASSES = 3

_Said = tuple[str, str]
"""The description and the title of a tool: tools that say the same have the same line."""


def summaries(specs: Sequence[ToolSpec], limits: Limits) -> tuple[ToolSummary, ...]:
    """The level-1 view of each of `specs`, in their order; in linear time.

    A sentence that several tools of a source share is passed over for the next that differs,
    then for the title, then for what is said of arguments and the like; a tool that nothing
    tells apart has no line.
    """
    said = [(spec.description, _title(spec)) for spec in specs]
    by_source: dict[str, dict[_Said, None]] = {}
    for spec, own in zip(specs, said, strict=True):
        by_source.setdefault(spec.source, {})[own] = None
    length = limits.summary_length
    lines = {source: _told_apart(of, length) for source, of in by_source.items()}
    return tuple(
        ToolSummary(spec.name, lines[spec.source].get(own, ""), spec.source)
        for spec, own in zip(specs, said, strict=True)
    )


def _title(spec: ToolSpec) -> str:
    """The title, unless it only spells the name."""
    return "" if _letters(spec.title) == _letters(spec.tool) else spec.title


def _letters(name: str) -> str:
    return "".join(filter(str.isalnum, name)).casefold()


def _told_apart(tools: Iterable[_Said], length: int) -> Mapping[_Said, str]:
    """A line for each of `tools`, no two the same; some may have none."""
    # Most are told apart by their first sentence, and need not be read to the end.
    first = {own: list(islice(_lines(own, length, 1), 1)) for own in tools}
    chosen = dict(_first_unshared(first, set()))
    left = {own: list(_lines(own, length, _SENTENCES)) for own in first if own not in chosen}
    # Whoever has passed over a shared sentence leaves it to one who has nothing else.
    for _ in range(_PASSES):
        chosen |= _first_unshared(left, set(chosen.values()))
        left = {own: lines for own, lines in left.items() if own not in chosen}
    return chosen


def _first_unshared(
    left: Mapping[_Said, Sequence[str]], taken: set[str]
) -> Iterator[tuple[_Said, str]]:
    """Of each of `left` the first line that no other has wanted before or wants too."""
    place = 0
    while left := {own: lines for own, lines in left.items() if place < len(lines)}:
        wanted = Counter(lines[place] for lines in left.values())
        free = {line for line, times in wanted.items() if times == 1} - taken
        yield from ((own, lines[place]) for own, lines in left.items() if lines[place] in free)
        taken |= wanted.keys()
        left = {own: lines for own, lines in left.items() if lines[place] not in free}
        place += 1


def _lines(own: _Said, length: int, most: int) -> Iterator[str]:
    """What could be the line of a tool, best first; the first is the same whatever `most`."""
    description, title = own
    text = description[: _READ * length]
    said = Sentences.of(text, most)
    whole = " ".join((*said.telling, *said.asides))
    wanted = [part for part in (*said.telling, title, *said.asides, whole) if part]
    # Nothing more than a mark, a block of code or a table is shown as it is.
    for part in [f"{said.mark} {part}" for part in wanted] or [text]:
        if line := one_line(part, length):
            yield line
