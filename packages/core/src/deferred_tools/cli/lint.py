"""The command `deferred-tools lint`: what makes your tools hard to find, tell apart or call."""

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import groupby
from typing import Annotated, Any

import typer
from rich.text import Text

from deferred_tools.cli.catalogue import AsJson, ConfigFile, SettingsFile, ToolsFile, tools_of
from deferred_tools.cli.main import CANNOT_RUN
from deferred_tools.cli.output import show, show_json, tell, working
from deferred_tools.cli.retrievers import DEFAULT, OneRetriever, new_retriever
from deferred_tools.errors import DeferredToolsError
from deferred_tools.lint.finding import Finding, Rule, Severity
from deferred_tools.lint.run import RULES, lint
from deferred_tools.spec import one_line

FOUND = 1
"""Exit code when there are findings that count."""
_SHOWN = 5
_LENGTH = 300
_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow"}


class FailOn(StrEnum):
    """What makes the command fail."""

    ERROR = "error"
    WARNING = "warning"
    NEVER = "never"


_COUNTED = {
    FailOn.ERROR: {Severity.ERROR},
    FailOn.WARNING: {Severity.ERROR, Severity.WARNING},
    FailOn.NEVER: set[Severity](),
}


def lint_command(
    *,
    tools_file: ToolsFile = None,
    config_file: ConfigFile = None,
    settings_file: SettingsFile = None,
    select: Annotated[
        str | None, typer.Option(metavar="CODES", help="Look for these only, between commas.")
    ] = None,
    ignore: Annotated[
        str | None, typer.Option(metavar="CODES", help="Do not look for these, between commas.")
    ] = None,
    fail_on: Annotated[
        FailOn, typer.Option(help="The least that gives exit code 1; 2 is that it cannot run.")
    ] = FailOn.ERROR,
    retriever: OneRetriever = DEFAULT,
    show_all: Annotated[
        bool, typer.Option("--all", help=f"Show every finding, not {_SHOWN} of each kind.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Find tools that cannot be found, told apart or called as they are, and say what to do."""
    rules = _rules(select, ignore)
    try:
        ranker = new_retriever(retriever)
        tools = tools_of(tools_file, config_file, settings_file)
    except DeferredToolsError as error:
        tell(str(error))
        raise typer.Exit(CANNOT_RUN) from error
    with working(f"Looking at {len(tools):,} tools"):
        findings = lint(tools, ranker, rules)
    if as_json:
        show_json([_plain(one) for one in findings])
    else:
        show(_text(findings, len(tools), None if show_all else _SHOWN))
    if any(one.rule.severity in _COUNTED[fail_on] for one in findings):
        raise typer.Exit(FOUND)


def _rules(select: str | None, ignore: str | None) -> list[Rule]:
    selected = _codes(select) if select is not None else {rule.code for rule in RULES}
    left = selected - _codes(ignore or "")
    return [rule for rule in RULES if rule.code in left]


def _codes(given: str) -> set[str]:
    codes = {code.strip() for code in given.split(",")} - {""}
    known = {rule.code for rule in RULES}
    if codes - known:
        raise typer.BadParameter(
            f"There is no {min(codes - known)!r}. Known are: {', '.join(sorted(known))}."
        )
    return codes


def _plain(one: Finding) -> dict[str, Any]:
    return {
        "code": one.rule.code,
        "severity": one.rule.severity.value,
        "server": one.server,
        "tool": one.tool,
        "name": one.name,
        "problem": one.problem,
        "others": list(one.others),
        "suggestion": one.rule.suggestion,
    }


def _text(findings: Sequence[Finding], tools: int, most: int | None) -> Text:
    """The findings by rule, at most `most` of each, and how many there are."""
    text = Text()
    for rule, group in groupby(findings, key=lambda one: one.rule):
        of = list(group)
        text.append(f"{rule.title}: {len(of):,}", _STYLES[rule.severity])
        text.append(f"  {rule.severity.value}, {rule.code}\n", "dim")
        text.append("".join(_lines(of[:most])))
        if len(of) > len(of[:most]):
            text.append(f"  and {len(of) - len(of[:most]):,} more (--all)\n", "dim")
        text.append(f"  {rule.suggestion}\n\n", "italic")
    counts = Counter(one.rule.severity for one in findings)
    told = (f"{counts[severity]:,} {severity.value}(s)" for severity in Severity)
    text.append(f"{', '.join(told)} in {tools:,} tools")
    return text


def _lines(findings: Sequence[Finding]) -> Iterator[str]:
    for one in findings:
        tool = one_line(f"{one.server}/{one.tool}", _LENGTH)
        yield f"  {tool}: {one_line(one.problem, _LENGTH)}\n"
