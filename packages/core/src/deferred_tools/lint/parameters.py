"""Parameters that nobody explains or providers refuse, and schemas that cost too much."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from deferred_tools.evaluation.cost import bound_tokens
from deferred_tools.lint.finding import Finding, Rule, Severity
from deferred_tools.spec import ToolSpec, one_line

_NAME = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_WORD = re.compile(r"\w+")
_DEFINITION = re.compile(r"#/(\$defs|definitions)/([^/]+)")
_COSTLY = 2_000
_LISTED = 5
_SHOWN = 40

UNDOCUMENTED = Rule(
    "undocumented-parameter",
    Severity.WARNING,
    "Parameters that nothing explains",
    "Give each a description: what it means, its unit or format, an example. It helps a model to "
    "fill it in, and a search to find the tool.",
)
REFUSED = Rule(
    "refused-parameter",
    Severity.ERROR,
    "Parameter names that providers refuse",
    "Name parameters with at most 64 ASCII letters, digits, '_', '.' and '-': Anthropic refuses "
    "the whole request for one other. A schema is bound as it is, so nothing here mends it.",
)
COSTLY = Rule(
    "costly-schema",
    Severity.WARNING,
    f"Definitions of more than {_COSTLY:,} tokens",
    "Split the tool, or leave out parameters, examples and long lists of values that are rarely "
    "needed: every model call carries the whole once the tool is enabled.",
)
RULES = (UNDOCUMENTED, REFUSED, COSTLY)


def check(specs: Sequence[ToolSpec]) -> Iterator[Finding]:
    """What is wrong with the parameters of each of `specs`. Looks at the outermost only."""
    for spec in specs:
        properties = _mapping(spec.parameters.get("properties"))
        if odd := [name for name in properties if not _NAME.fullmatch(name)]:
            yield Finding.of(REFUSED, spec, _listed(odd))
        # In prose, as in the docstrings that some servers are made of, is explained too.
        told = frozenset(_WORD.findall(spec.description))
        if bare := [
            name
            for name, schema in properties.items()
            if name not in told and not _explained(schema, spec.parameters)
        ]:
            yield Finding.of(UNDOCUMENTED, spec, _listed(bare))
        if (tokens := bound_tokens(spec)) > _COSTLY:
            yield Finding.of(COSTLY, spec, f"about {tokens:,} tokens")


def _explained(schema: Any, root: Mapping[str, Any]) -> bool:
    """Whether a parameter, or the definition that it stands for, has a description."""
    schema = _mapping(schema)
    if place := _DEFINITION.fullmatch(str(schema.get("$ref", ""))):
        meant = _mapping(_mapping(root.get(place[1])).get(place[2]))
        return _has_text(schema) or _has_text(meant)
    return _has_text(schema)


def _has_text(schema: Mapping[str, Any]) -> bool:
    text = schema.get("description")
    return isinstance(text, str) and bool(text.strip())


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(repr(one_line(name, _SHOWN)) for name in names[:_LISTED])
    more = len(names) - _LISTED
    return f"{shown} and {more} more" if more > 0 else shown
