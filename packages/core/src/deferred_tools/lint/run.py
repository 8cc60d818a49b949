"""Hold tools against rules."""

from collections.abc import Callable, Collection, Iterator, Sequence

from deferred_tools.lint import descriptions, duplicates, names, parameters, retrieval, schemas
from deferred_tools.lint.finding import Finding, Rule, Severity
from deferred_tools.retrievers.base import Retriever
from deferred_tools.spec import ToolSpec

_ALL = (
    *retrieval.RULES,
    *descriptions.RULES,
    *names.RULES,
    *parameters.RULES,
    *schemas.RULES,
    *duplicates.RULES,
)
RULES = tuple(sorted(_ALL, key=lambda rule: rule.severity is not Severity.ERROR))
"""Every rule, in the order of findings: errors first."""

_Check = Callable[[Sequence[ToolSpec]], Iterator[Finding]]


def lint(
    specs: Sequence[ToolSpec], retriever: Retriever, rules: Collection[Rule] = RULES
) -> list[Finding]:
    """What of `rules` the tools break, by rule, then in the order of the tools.

    `retriever` is what the tools are searched with; it is indexed anew. What no rule of `rules`
    asks for is not computed.
    """
    checks: tuple[tuple[Sequence[Rule], _Check], ...] = (
        (retrieval.RULES, lambda specs: retrieval.check(specs, retriever)),
        (descriptions.RULES, descriptions.check),
        (names.RULES, names.check),
        (parameters.RULES, parameters.check),
        (schemas.RULES, schemas.check),
        (duplicates.RULES, duplicates.check),
    )
    found = [
        finding
        for of, check in checks
        if any(rule in rules for rule in of)
        for finding in check(specs)
        if finding.rule in rules
    ]
    return sorted(found, key=lambda finding: RULES.index(finding.rule))
