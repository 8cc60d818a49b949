"""What may have become of a tool since it was enabled, and what each route to it must then say.

A suite of an adapter gives its routes, and makes a cell of each with each state of each tool.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from deferred_tools import Caller, Session, SourceState, SourceStatus, Toolset, ToolSpec, ToolTag
from deferred_tools.errors import SourceUnavailableError
from deferred_tools.lock import ToolsLock
from deferred_tools.settings import Settings
from deferred_tools.testing.sources import ScriptedSource, ScriptedTool, ready

ROOT = Caller.root()
EVERY = ("s__t", "plan", "own")
"""The tools, by name."""


@dataclass
class Bench:
    """One toolset with a server's tool, a contract, and a tool of the framework's; who calls."""

    folder: Path
    make: Callable[..., Any]
    """Makes the framework's tool of a function, with `name` and `description`."""
    settings: dict[str, Any] = field(default_factory=dict)
    caller: Caller = ROOT
    without: bool = False
    away: bool = False
    text: str = "Does it."
    ran: list[str] = field(default_factory=list)

    def toolset(self) -> Toolset:
        server = ScriptedTool("t", self.text)
        own = self.make(self._run, name="own", description=self.text)
        if self.away:
            server = ScriptedTool("t", self.text, answer=_away)
        self.server, self.implementation = server, ScriptedTool("x")
        contract = {"description": self.text, "implementation": self.implementation}
        contracts = {} if self.without else {"plan": contract}
        tags = {name: ["egress"] for name in EVERY}
        settings = {"contracts": contracts, "tags": {} if self.without else tags, **self.settings}
        status = SourceStatus.UNAVAILABLE if self.away else SourceStatus.READY
        state = SourceState(status=status, tools=(server,), reason="it is away" * self.away)
        self.made = Toolset.from_sources(
            ScriptedSource("s", ready() if self.without else state),
            [] if self.without else [own],
            settings=Settings.from_dict(settings),
        )
        return self.made

    def _run(self) -> str:
        self.ran.append("own")
        return "done"

    @property
    def runs(self) -> int:
        """How often one of the tools ran; one whose server is away is only tried."""
        tried = 0 if self.away else len(self.server.calls)
        return tried + len(self.implementation.calls) + len(self.ran)


async def _away(arguments: dict[str, Any]) -> Any:
    raise SourceUnavailableError("s", "it is away")


State = Callable[[Bench, Session, str], Session]


def allowed(bench: Bench, session: Session, name: str) -> Session:
    return session


def unknown(bench: Bench, session: Session, name: str) -> Session:
    bench.without = True
    return session


def forbidden(bench: Bench, session: Session, name: str) -> Session:
    bench.caller = Caller.subagent("helper", allow=["another"])
    return session


def disabled(bench: Bench, session: Session, name: str) -> Session:
    bench.settings["disabled"] = [name]
    return session


def not_implemented(bench: Bench, session: Session, name: str) -> Session:
    bench.settings["contracts"] = {"plan": {"description": bench.text}}
    return session


def not_enabled(bench: Bench, session: Session, name: str) -> Session:
    return session.disable([name])


def withheld(bench: Bench, session: Session, name: str) -> Session:
    path = bench.folder / "tools.lock"
    ToolsLock.of([ToolSpec(source="s", tool="t", description="Accepted.")], {}).write(path)
    bench.settings["lock"] = str(path)
    return session


def stale(bench: Bench, session: Session, name: str) -> Session:
    bench.text = "Does something else."
    return session


def completing(bench: Bench, session: Session, name: str) -> Session:
    return session.exposed_to([ToolTag.SENSITIVE, ToolTag.UNTRUSTED_INPUT])


def away(bench: Bench, session: Session, name: str) -> Session:
    bench.away = True
    return session


STATES: list[tuple[State, tuple[str, ...], str]] = [
    (allowed, EVERY, ""),
    (unknown, EVERY, "There is no tool named"),
    (forbidden, EVERY, "There is no tool named"),
    (disabled, EVERY, "switched off by the host"),
    (not_implemented, ("plan",), "nothing carries it out"),
    (not_enabled, EVERY, "is not enabled in this conversation"),
    (withheld, ("s__t",), "not as the host accepted it"),
    (stale, EVERY, "is not enabled in this conversation"),
    (completing, EVERY, "carry private data out"),
    (away, ("s__t",), "'s' is unavailable"),
]


class Answer(NamedTuple):
    """What came of a call."""

    name: str | None
    is_error: bool
    text: str


class Cell(NamedTuple):
    """One route and one state of one tool."""

    route: str
    state: State
    name: str
    told: str
    """What the answer says; "" where the tool runs."""

    @property
    def id(self) -> str:
        """The cell's name among tests."""
        return f"{self.route}-{self.state.__name__}-{self.name}"

    def check(self, bench: Bench, answer: Answer) -> None:
        """See that the tool ran only if it might, and that the answer says why it did not."""
        assert (answer.name, answer.is_error) == (self.name, bool(self.told))
        assert self.told in answer.text
        assert bench.runs == (0 if self.told else 1)
        if self.state is forbidden:
            assert answer.text.removeprefix("Error: ") == (
                f"There is no tool named {self.name!r} available to you. Call `tool_search` with "
                "what you need to do to find one that is."
            )


def cells(routes: Iterable[str]) -> list[Cell]:
    """Every state of every tool by each route."""
    return [
        Cell(route, state, name, told)
        for route in routes
        for state, names, told in STATES
        for name in names
        # A tool object of the application's own is the application's to call, whatever we say.
        if not (name == "own" and "kept" in route)
    ]
