"""Names that model providers refuse, and names that are cut before they would."""

import re
from collections.abc import Iterator, Sequence

from deferred_tools.limits import Limits
from deferred_tools.lint.finding import Finding, Rule, Severity
from deferred_tools.spec import Tier, ToolSpec, one_line, safe_name

_LONGEST = Limits().name_length
_FIRST = re.compile(r"[a-zA-Z_]")
_SHOWN = 40

REFUSED = Rule(
    "refused-name",
    Severity.ERROR,
    "Names that providers refuse",
    f"Name tools with at most {_LONGEST} ASCII letters, digits, '_' and '-', a letter first. Here "
    "other characters become '_', and what is too long is cut; other hosts send the name as it "
    "is, and the provider refuses the whole request.",
)
CUT = Rule(
    "cut-name",
    Severity.WARNING,
    "Names that are too long with their server",
    'Shorten the tool\'s name, or give its server a short "namespace": with both, a name has room '
    f"for {_LONGEST} characters. What is longer is cut and ends in eight digits of a hash.",
)
RULES = (REFUSED, CUT)


def check(specs: Sequence[ToolSpec]) -> Iterator[Finding]:
    """What is wrong with the name of each of `specs`."""
    for spec in specs:
        # As the registry does: code tools go by their own name, others by the qualified id.
        shown = safe_name(spec.id if spec.tier is Tier.MCP else spec.tool)
        if refusals := list(_refusals(spec.tool, shown)):
            yield Finding.of(REFUSED, spec, "; ".join(refusals))
        elif len(shown) > _LONGEST:
            yield Finding.of(CUT, spec, f"{shown!r} has {len(shown)} characters")


def _refusals(own: str, shown: str) -> Iterator[str]:
    if odd := dict.fromkeys(char for char in own if char != safe_name(char)):
        listed = one_line(" ".join(map(repr, odd)), _SHOWN)
        yield f"it contains {listed}, which OpenAI, Anthropic and Bedrock refuse"
    if len(own) > _LONGEST:
        yield f"it has {len(own)} characters, and OpenAI, Gemini and Bedrock take {_LONGEST}"
    if not _FIRST.match(shown):
        yield f"models see it begin with {shown[:1]!r}, which Gemini refuses"
