"""The display while sources start. Hears of them as any plugin does."""

from collections.abc import Iterable

from rich.console import RenderableType
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from deferred_tools.hookspecs import hookimpl
from deferred_tools.sources.base import SourceState, SourceStatus

_ROWS = 12
_STYLES = {
    SourceStatus.CONNECTING: "yellow",
    SourceStatus.READY: "green",
    SourceStatus.UNAVAILABLE: "red",
    SourceStatus.FAILED: "red",
    SourceStatus.AUTH_REQUIRED: "red",
    SourceStatus.DISABLED: "dim",
}


class Starting:
    """Every source with its state; of many, only some that are waited for."""

    def __init__(self, sources: Iterable[str]) -> None:
        self._states = dict.fromkeys(sources, SourceState(status=SourceStatus.CONNECTING))
        self._spinner = Spinner("dots")

    @hookimpl
    def deferred_tools_source_changed(self, source: str, state: SourceState) -> None:
        """Take a new state; called in the toolset's own thread."""
        self._states[source] = state

    def __rich__(self) -> RenderableType:
        """A line for each, drawn anew whenever the display is."""
        waiting = {name: s for name, s in self._states.items() if _is_busy(s)}
        few = len(self._states) <= _ROWS
        table = Table.grid(padding=(0, 2))
        for name, state in (self._states if few else dict(list(waiting.items())[:_ROWS])).items():
            table.add_row(self._spinner if _is_busy(state) else "", name, describe(state))
        if not few:
            table.add_row("", f"{len(waiting)} of {len(self._states)} still to come")
        return table


def describe(state: SourceState) -> Text:
    """A state in a few words, with how many tools there are."""
    count = len(state.tools)
    tools = f", {count} tool{'s' if count > 1 else ''}" if count else ""
    return Text(f"{state.status.value}{tools}", style=_STYLES[state.status])


def _is_busy(state: SourceState) -> bool:
    return state.status is SourceStatus.CONNECTING
