"""What was measured, as tables for people and JSON for programs."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable

WIDTH = 120
"""Characters to a line where the output goes to a file."""
Row = dict[str, Any]
"""From column, unit included, to value. Rows of one table have the same columns."""


@dataclass(frozen=True)
class Table:
    """Rows that belong together."""

    title: str
    rows: Sequence[Row]
    note: str = ""


@dataclass(frozen=True)
class Goal:
    """A figure that was promised: `value` is to stay below `below`."""

    what: str
    value: float
    below: float
    unit: str
    cpu: float | None = None
    """The same in processor time, which a busy machine stretches less."""

    @property
    def verdict(self) -> str:
        """Whether it does: reached, reached only in processor time, or missed."""
        if self.value < self.below:
            return "reached"
        if self.cpu is not None and self.cpu < self.below:
            return f"busy machine? cpu {self.cpu:.3g}"
        return "missed"


@dataclass(frozen=True)
class Measured:
    """All that one part of the benchmark found."""

    tables: Sequence[Table]
    goals: Sequence[Goal] = field(default=())


def as_json(found: Sequence[Measured], remarks: Sequence[str]) -> str:
    """Everything as one JSON document."""
    told = {
        "remarks": list(remarks),
        "tables": [asdict(table) for part in found for table in part.tables],
        "goals": [
            asdict(goal) | {"verdict": goal.verdict} for part in found for goal in part.goals
        ],
    }
    return json.dumps(told, indent=2, ensure_ascii=False)


def show(found: Sequence[Measured], remarks: Sequence[str]) -> None:
    """Print everything, goals last."""
    console = Console() if sys.stdout.isatty() else Console(width=WIDTH)
    for remark in remarks:
        console.print(remark, style="yellow", markup=False)
    for table in (table for part in found for table in part.tables):
        _show(console, table)
    goals = [goal for part in found for goal in part.goals]
    rows = [
        {
            "figure": goal.what,
            "measured": f"{_text(goal.value)} {goal.unit}",
            "to reach": f"< {_text(goal.below)} {goal.unit}",
            "": goal.verdict,
        }
        for goal in goals
    ]
    _show(console, Table("Figures to reach", rows))


def _show(console: Console, table: Table) -> None:
    if not table.rows:
        return
    drawn = RichTable(title=table.title, title_justify="left", caption=table.note or None)
    drawn.caption_justify = "left"
    for at, column in enumerate(table.rows[0]):
        drawn.add_column(column, justify="right" if at else "left", overflow="fold")
    for row in table.rows:
        drawn.add_row(*(_text(value) for value in row.values()))
    console.print(drawn)


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.3g}" if abs(value) < 1_000 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
