"""Descriptions that say nothing, say too much, or begin as those of other tools do."""

from collections.abc import Iterator, Sequence

from deferred_tools.lint.finding import Finding, Rule, Severity
from deferred_tools.sentences import Sentences
from deferred_tools.spec import ToolSpec, one_line

_LONGEST = 1_024
_MANY = 3
_SHOWN = 80

NONE = Rule(
    "no-description",
    Severity.ERROR,
    "Tools without a description",
    "Say in one sentence what the tool does, and to what.",
)
MARKUP = Rule(
    "only-markup",
    Severity.ERROR,
    "Descriptions that are only markup",
    "Begin with a sentence in words; a table, a block of code or a rule can follow it.",
)
LONG = Rule(
    "long-description",
    Severity.WARNING,
    f"Descriptions of more than {_LONGEST:,} characters",
    "Move examples and rules for arguments to the descriptions of the parameters; some provider "
    "APIs refuse a longer text, and every model call carries it once the tool is enabled.",
)
SHARED = Rule(
    "shared-sentence",
    Severity.WARNING,
    "Tools of one server that begin with the same sentence",
    "Begin with what this tool does and its neighbours do not; say what is true of the whole "
    "server later, or in the server's instructions.",
)
RULES = (NONE, MARKUP, LONG, SHARED)


def check(specs: Sequence[ToolSpec]) -> Iterator[Finding]:
    """What is wrong with the description of each of `specs`."""
    alike: dict[tuple[str, str], list[ToolSpec]] = {}
    for spec in specs:
        said = Sentences.of(spec.description, 1)
        if not one_line(spec.description, _SHOWN):
            yield Finding.of(NONE, spec, "it has no description")
        elif not (said.telling or said.asides):
            shown = one_line(spec.description, _SHOWN)
            yield Finding.of(MARKUP, spec, f"it is described as {shown!r}")
        for sentence in said.telling:
            alike.setdefault((spec.source, sentence), []).append(spec)
        if len(spec.description) > _LONGEST:
            yield Finding.of(LONG, spec, f"it has {len(spec.description):,} characters")
    for (_, sentence), group in alike.items():
        if len(group) >= _MANY:
            problem = f"it and {len(group) - 1} others begin {one_line(sentence, _SHOWN)!r}"
            yield Finding.of(SHARED, group[0], problem, group[1:])
