"""Tools that their own words do not find."""

from collections.abc import Iterator, Sequence

from deferred_tools.limits import Limits
from deferred_tools.lint.finding import Finding, Rule, Severity
from deferred_tools.retrievers.base import Retriever
from deferred_tools.retrievers.text import Analyser
from deferred_tools.search_request import DEFAULT_LIMIT
from deferred_tools.spec import ToolSpec, one_line
from deferred_tools.summaries import summaries

_DEPTH = 50
_NAMED = 3
_SHOWN = 80

UNFINDABLE = Rule(
    "not-found",
    Severity.ERROR,
    "Tools that neither their own description nor their name finds",
    "Begin the description with words of its own: what it does, to what, in which system. Aliases "
    "(words that people use for it) help where the description cannot be changed.",
)
HARD = Rule(
    "hard-to-find",
    Severity.WARNING,
    "Tools that their own description does not find",
    "Say in the first sentence what the tools found instead do not do. Aliases (words that people "
    "use for it) help where the description cannot be changed.",
)
RULES = (UNFINDABLE, HARD)


def check(specs: Sequence[ToolSpec], retriever: Retriever) -> Iterator[Finding]:
    """Each of `specs` that is not among the first that a search enables for its own words.

    Searched is the sentence that stands for the tool in the prompt, then its name as words.
    A tool without such a sentence is left to the other checks.
    """
    retriever.index(specs)
    by_name = {spec.name: spec for spec in specs}
    analyser = Analyser()
    for spec, summary in zip(specs, summaries(specs, Limits()), strict=True):
        said = summary.description
        found = [hit.name for hit in retriever.search(said, _DEPTH)] if said else [spec.name]
        if spec.name in found[:DEFAULT_LIMIT]:
            continue
        ahead = [by_name[name] for name in found if name != spec.name][:_NAMED]
        called = " ".join(analyser.words(spec.tool))
        by_its_name = [hit.name for hit in retriever.search(called, DEFAULT_LIMIT)]
        rule = HARD if spec.name in by_its_name else UNFINDABLE
        yield Finding.of(rule, spec, _told(spec.name, said, found, ahead), ahead)


def _told(name: str, said: str, found: Sequence[str], ahead: Sequence[ToolSpec]) -> str:
    itself = f"at place {found.index(name) + 1}" if name in found else f"not in {_DEPTH} places"
    instead = ", ".join(repr(spec.name) for spec in ahead) or "nothing"
    return f"{one_line(said, _SHOWN)!r} finds {instead} first, and the tool itself {itself}"
