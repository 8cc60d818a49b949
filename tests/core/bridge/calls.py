"""Short ways to stream calls in tests."""

from collections.abc import Iterable

from deferred_tools.bridge import (
    UNKNOWN,
    Complete,
    Dialect,
    Fragment,
    Invalid,
    MintedIds,
    Outcome,
    Reason,
    ToolCallAssembler,
)

Short = tuple[str, str, object] | Reason
"""Id, name and arguments of a complete call, or why one is invalid."""


def assembler(dialect: Dialect = UNKNOWN) -> ToolCallAssembler:
    """One for which only `now` and `list` may be called without arguments."""
    return ToolCallAssembler(
        dialect, may_be_empty=lambda name: name in ("now", "list"), minted=MintedIds("t")
    )


def outcomes(
    fragments: Iterable[Fragment], reason: str | None = "stop", dialect: Dialect = UNKNOWN
) -> list[Outcome]:
    """What becomes of the calls."""
    calls = assembler(dialect)
    for fragment in fragments:
        calls.feed(fragment)
    return calls.finish(reason)


def short(found: Iterable[Outcome]) -> list[Short]:
    """The same, in short."""
    return [
        (it.id, it.name, it.arguments) if isinstance(it, Complete) else it.reason for it in found
    ]


def streamed(
    *fragments: Fragment, reason: str | None = "stop", dialect: Dialect = UNKNOWN
) -> list[Short]:
    """What becomes of the calls, in short."""
    return short(outcomes(fragments, reason, dialect))


def only_invalid(*fragments: Fragment, reason: str | None = "stop") -> Invalid:
    """The one call, which is invalid."""
    [found] = outcomes(fragments, reason)
    assert isinstance(found, Invalid)
    return found
