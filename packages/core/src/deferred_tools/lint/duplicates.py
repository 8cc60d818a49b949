"""Tools that say nearly the same, so that a search or a model can only guess between them.

Groups are found by their words alone, whatever ranks them. Only words that are rare enough to
tell tools apart are looked up, and only so many tools for each: no catalogue is compared pair
by pair.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from deferred_tools.lint.finding import Finding, Rule, Severity
from deferred_tools.retrievers.text import Analyser, SearchText
from deferred_tools.spec import ToolSpec

SAME = 0.9
"""Share of the words of two tools that both must have."""
_CANDIDATES = 64
"""Groups that are looked at for one word, the latest ones."""
_SHOWN = 6

DUPLICATE = Rule(
    "near-duplicate",
    Severity.WARNING,
    "Tools that say nearly the same",
    "Say in each what the others do not do; if they do the same, offer one of them (`allow` and "
    "`deny` in the configuration of a server).",
)
RULES = (DUPLICATE,)


def check(specs: Sequence[ToolSpec]) -> Iterator[Finding]:
    """Each group of `specs` that share `SAME` of their words with the group's first."""
    analyser = Analyser()
    for group in _groups([frozenset(analyser.stems(_text(spec))) for spec in specs]):
        if len(group) > 1:
            first, *others = (specs[number] for number in group)
            yield Finding.of(DUPLICATE, first, _told(first, others, analyser), others)


def _told(first: ToolSpec, others: Sequence[ToolSpec], analyser: Analyser) -> str:
    """How far apart the first two are, and how many more there are."""
    left, right = (analyser.words(_text(spec)) for spec in (first, others[0]))
    unshared = set(left) ^ set(right)
    differing = [word for word in dict.fromkeys(left + right) if word in unshared]
    shown = ", ".join(map(repr, differing[:_SHOWN])) + ("..." if len(differing) > _SHOWN else "")
    apart = f"all words but {shown}" if differing else "all words"
    more = f", and nearly so {len(others) - 1} more" if len(others) > 1 else ""
    return f"{others[0].name!r} shares {apart}{more}"


def _text(spec: ToolSpec) -> str:
    """What a tool says: its name, description and parameters; not which server it is of."""
    text = SearchText.of(spec)
    return f"{text.name}\n{text.description}\n{text.parameters}"


def _groups(words: Sequence[frozenset[str]]) -> list[list[int]]:
    """Numbers of tools by the first tool that each is nearly the same as, in their order."""
    common = Counter(word for own in words for word in own)
    groups: dict[int, list[int]] = {}
    by_word: dict[str, list[int]] = {}
    for number, own in enumerate(words):
        # Two sets that share enough share one of these: fewer than `SAME` are left over.
        rare = sorted(own, key=lambda word: (common[word], word))
        looked_up = rare[: len(own) - math.ceil(SAME * len(own)) + 1]
        first = _first_alike(own, looked_up, by_word, words)
        if first is not None:
            groups[first].append(number)
            continue
        groups[number] = [number]
        for word in looked_up:
            by_word.setdefault(word, []).append(number)
    return list(groups.values())


def _first_alike(
    own: frozenset[str],
    looked_up: Sequence[str],
    by_word: dict[str, list[int]],
    words: Sequence[frozenset[str]],
) -> int | None:
    near = {one for word in looked_up for one in by_word.get(word, ())[-_CANDIDATES:]}
    for number in sorted(near):
        shared = len(own & words[number])
        if shared >= SAME * (len(own) + len(words[number]) - shared):
            return number
    return None
