"""What the demo prints.

Text from servers and models is data: never mark-up, never control codes.
"""

import json
from collections.abc import Mapping, Sequence

from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from deferred_tools.registry import Registry
from deferred_tools.spec import one_line
from langchain_deferred_tools.demo.agent import Surface
from langchain_deferred_tools.demo.starting import describe

_WIDTH = 100
_LABEL = 8
_ROWS = 12
_BLOCK_LINES = 48
_RESULT_LINES = 6


def console(*, plain: bool) -> Console:
    """The terminal, or stable text of a fixed width without colours."""
    if plain:
        return Console(width=_WIDTH, no_color=True, force_terminal=False, highlight=False)
    return Console(highlight=False)


def notice(to: Console, text: str) -> None:
    """Something that the user should know."""
    to.print(Text(text, style="yellow"))


def sources(to: Console, registry: Registry) -> None:
    """The sources and their tools."""
    table = Table(
        title=f"{len(registry.sources)} sources, {len(registry):,} tools",
        title_justify="left",
        expand=True,
    )
    table.add_column("source", no_wrap=True)
    table.add_column("state", no_wrap=True)
    table.add_column("tools", no_wrap=True, ratio=1)
    views = list(registry.sources.values())
    for view in views[:_ROWS]:
        names = ", ".join(tool.spec.tool for tool in view.state.tools)
        table.add_row(view.name, describe(view.state), Text(one_line(names, 200)))
    if rest := views[_ROWS:]:
        count = sum(len(view.state.tools) for view in rest)
        table.add_row(f"and {len(rest)} more", f"{count:,} tools", "")
    to.print(table)
    for view in views:
        if view.state.reason:
            notice(to, f"{view.name} is {view.state.status.value}: {view.state.reason}")


def block(to: Console, text: str) -> None:
    """The level-1 block, as the model reads it."""
    lines = text.splitlines()
    if len(lines) > _BLOCK_LINES:
        left_out = len(lines) - _ROWS - 3
        lines = [*lines[:_ROWS], f"  … {left_out} more lines …", *lines[-3:]]
    to.print(Panel(Text("\n".join(lines)), title="Level 1: this goes into the system prompt"))


def costs(to: Console, *, tools: int, everything: int, block_alone: int, deferred: int) -> None:
    """What tools cost in one call of the model, before any was searched for; in tokens."""
    table = _numbers("What tools cost in one call of the model", "", "tokens (estimated)", "saved")
    table.columns[0].justify = "left"
    table.add_row(f"all {tools:,} schemas bound up front", f"{everything:,}", "")
    table.add_row("the block above", f"{block_alone:,}", _saved(block_alone, everything))
    table.add_row("the block and tool_search", f"{deferred:,}", _saved(deferred, everything))
    to.print(table)


def surfaces(to: Console, everything: int, seen: Sequence[Surface]) -> None:
    """What each call of the model really carried."""
    title = "What each call of the model carried"
    table = _numbers(title, "call", "tools bound", "tokens (estimated)", "saved")
    for at, surface in enumerate(seen, 1):
        saved = _saved(surface.tokens, everything)
        table.add_row(str(at), str(len(surface.bound)), f"{surface.tokens:,}", saved)
    to.print(table)


def asked(to: Console, question: str) -> None:
    """What the user wants."""
    to.rule("The agent")
    _line(to, "user", "bold", question)


def message(to: Console, said: BaseMessage, surface: Surface | None) -> None:
    """One message of the conversation; before one of the model, what was bound to it."""
    if isinstance(said, ToolMessage):
        failed = said.status == "error"
        head = f"{said.name} {'answers with an error' if failed else 'answers'}: "
        _line(to, "result", "red" if failed else "green", head + _short(said.text))
    if not isinstance(said, AIMessage):
        return
    if surface:
        names = ", ".join(surface.bound)
        _line(to, "bound", "dim", f"{len(surface.bound)}: {names}")
    for call in said.tool_calls:
        _line(to, "model", "cyan", f"{call['name']}({_arguments(call['args'])})")
    if said.text:
        _line(to, "model" if said.tool_calls else "answer", "bold cyan", said.text)


def _line(to: Console, label: str, style: str, text: str) -> None:
    lines = [Text(one_line(line, 1000)) for line in text.splitlines()]
    wrapped = [part for line in lines for part in line.wrap(to, to.width - _LABEL)]
    for at, part in enumerate(wrapped):
        part.rstrip()
        to.print(Text.assemble((f"{label if at == 0 else '':<{_LABEL}}", style), part))


def _short(text: str) -> str:
    """A tool's answer: JSON on one line, other text on a few."""
    try:
        return one_line(json.dumps(json.loads(text), ensure_ascii=False), 300)
    except ValueError:
        lines = [line for line in text.splitlines() if line.strip()]
        more = [f"… {len(lines) - _RESULT_LINES} more lines"] if len(lines) > _RESULT_LINES else []
        return "\n".join([one_line(line, 200) for line in lines[:_RESULT_LINES]] + more)


def _arguments(given: Mapping[str, object]) -> str:
    return ", ".join(f"{k}={json.dumps(v, ensure_ascii=False)}" for k, v in given.items())


def _numbers(title: str, *headers: str) -> Table:
    table = Table(*headers, title=title, title_justify="left")
    for column in table.columns:
        column.justify = "right"
    return table


def _saved(tokens: int, everything: int) -> str:
    return f"{1 - tokens / everything:.1%}"
