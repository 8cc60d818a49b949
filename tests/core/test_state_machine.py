"""Three tenants share one toolset while rights, servers and conversations change at random.

Whatever happens, nothing runs outside the rights of that moment, and one tenant is told, byte for
byte, what it would be told if the others did not exist. The suite runs it briefly; for longer:

    python -m tests.core.test_state_machine 500
"""

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, NoReturn

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

from deferred_tools import (
    Caller,
    CallerKind,
    Session,
    SourceState,
    SourceStatus,
    ToolResult,
    Toolset,
    ToolSpec,
    hookimpl,
)
from deferred_tools.errors import DeferredToolsError, SourceUnavailableError
from deferred_tools.policy import matches
from deferred_tools.session import Inherit
from deferred_tools.settings import Settings
from deferred_tools.testing.sources import ScriptedSource, ScriptedTool
from deferred_tools.workflows import Step, Workflow

pytestmark = pytest.mark.thorough

SECONDS = 10.0
OFFERED = {
    "a": {"read": "Read the letters in a box.", "box": "Open the box of letters."},
    "s": {
        "web": "Read a page of the web.",
        "send": "Send a letter to somebody.",
        "old": "Send letters, as it was once done.",
    },
    "b": {
        "web": "Read a page of the web, send it, open it.",
        "box": "Open the secret box of letters.",
        "read box": "Read letters.",
    },
}
TAGS = {
    "s__web": {"untrusted_input"},
    "a__box": {"sensitive"},
    "b__box": {"sensitive"},
    "s__send": {"egress"},
    "mail": {"egress"},
    "tidy": {"untrusted_input"},
}
RUNS = {"mail": "s__send", "tidy": "s__web"}
"""What acts where it is not the tool itself: of a mapped contract, and of a workflow's step."""
DOCUMENT = {
    "contracts": {"mail": {"description": "Mail a letter."}},
    "overrides": {"mail": {"server": "s", "tool": "send"}},
    "disabled": ["s__old"],
    "tags": {
        name: sorted(tags) for name, tags in TAGS.items() if name[:3] in {"s__", "a__", "b__"}
    },
}
NAMES = (
    "a__read", "a__box", "s__web", "s__send", "s__old", "b__web", "b__box", "b__read_box", "mail",
    "tidy", "none",
)  # fmt: skip
QUERIES = ("read letters", "open the secret box", "send a letter", "web", "mail", "zzqx")
ANN, BOB, CYD = (Caller.principal(name) for name in ("ann", "bob", "cyd"))
TENANTS = {caller.name: caller for caller in (ANN, BOB, CYD)}
STEPS = "workflow"
RIGHTS = {
    # Ann's never reach a tool of `b`: for her it does not exist.
    "ann": ("a__*", "s__*", "mail", "tidy"),
    "bob": ("b__*", "s__*", "mail", "tidy"),
    "cyd": ("a__box", "b__*", "s__send", "tidy", "*"),
    STEPS: ("s__web",),
}
THREE = {"untrusted_input", "sensitive", "egress"}


class Deed(Enum):
    """What else happens to a conversation."""

    DISABLE = auto()
    APPROVE = auto()
    FORK = auto()
    MERGE = auto()
    STORE = auto()
    BEGIN = auto()


class Live:
    """The rights of this moment."""

    def __init__(self) -> None:
        self.granted = {name: set(patterns) for name, patterns in RIGHTS.items()}
        self.fails: set[str] = set()
        """Names over which the policy raises."""

    def allows(self, caller: Caller, spec: ToolSpec) -> bool:
        if spec.name in self.fails:
            raise LookupError("the directory is away")
        if caller.kind is CallerKind.SUBAGENT:
            return True  # whoever it acts for is asked too
        who = STEPS if caller.kind is CallerKind.WORKFLOW else caller.name
        return matches(self.granted[who], spec.name)

    def gives(self, who: str, name: str) -> bool:
        return name not in self.fails and matches(self.granted[who], name)


class Breaks:
    """Fails at every event that it is told of."""

    def _fail(self) -> NoReturn:
        raise LookupError("no disk")

    @hookimpl
    def deferred_tools_searched(self, query: str) -> None:
        self._fail()

    @hookimpl
    def deferred_tools_enabled(self, names: tuple[str, ...]) -> None:
        self._fail()

    @hookimpl
    def deferred_tools_called(self, name: str) -> None:
        self._fail()

    @hookimpl
    def deferred_tools_refused(self, name: str) -> None:
        self._fail()

    @hookimpl
    def deferred_tools_source_changed(self, source: str) -> None:
        self._fail()


async def tidy(arguments: dict[str, Any], step: Step) -> ToolResult:
    return await step("s__web", arguments)


class World:
    """One toolset over some of the sources, and what it sent upstream."""

    def __init__(self, live: Live, sources: Iterable[str]) -> None:
        self.sent: list[str] = []
        self.away: set[str] = set()
        self.offered = {name: set(OFFERED[name]) for name in sources}
        self.sources = {
            name: ScriptedSource(name, self._state(name, OFFERED[name], 0, away=False))
            for name in self.offered
        }
        self.toolset = Toolset(
            self.sources.values(),
            settings=Settings.from_dict(DOCUMENT),
            policies=[live],
            plugins=[Breaks()],
        )
        self.toolset.register_workflow_tools([Workflow(name="tidy", run=tidy, uses=("s__web",))])
        self.toolset.open()

    def reload(self, source: str, tools: Iterable[str], version: int, *, away: bool) -> None:
        """Have `source` offer `tools`, and wait until that is taken over."""
        if source not in self.sources:
            return
        state = self._state(source, tools, version, away=away)
        self.offered[source] = set(tools)
        self.sources[source].push(state)
        deadline = time.monotonic() + SECONDS
        while self.toolset.registry.sources[source].state is not state:
            assert time.monotonic() < deadline, "a report was not taken over"
            threading.Event().wait(0.001)

    def exists(self, name: str) -> bool:
        """Whether anybody could call it, by what the servers offer."""
        source, _, tool = RUNS.get(name, name).partition("__")
        offered = self.offered.get(source, set())
        return name != "s__old" and tool in {each.replace(" ", "_") for each in offered}

    def _state(self, source: str, tools: Iterable[str], version: int, *, away: bool) -> SourceState:
        (self.away.add if away else self.away.discard)(source)
        texts = {tool: f"{OFFERED[source][tool]} v{version}" for tool in tools}
        made = [ScriptedTool(t, text, answer=self._acts(source, t)) for t, text in texts.items()]
        status = SourceStatus.UNAVAILABLE if away else SourceStatus.READY
        return SourceState(status=status, tools=tuple(made))

    def _acts(self, source: str, tool: str) -> Callable[[dict[str, Any]], Any]:
        async def answer(arguments: dict[str, Any]) -> ToolResult:
            if source in self.away:
                raise SourceUnavailableError(source, "it is away")
            self.sent.append(f"{source}__{tool}".replace(" ", "_"))
            return ToolResult(content=({"type": "text", "text": f"{source} {tool}"},))

        return answer


@dataclass(frozen=True)
class Told:
    """What came of a call."""

    text: str
    ran: tuple[str, ...]


def call(world: World, session: Session, name: str, *, check: bool) -> Told:
    """Call it as an adapter does, with or without a look beforehand."""
    before = len(world.sent)
    try:
        if check:
            session = world.toolset.check(session, name, {}).session
        text = world.toolset.call(session, name, {}).text
    except DeferredToolsError as error:
        text = f"{type(error).__name__}: {error}"
    return Told(text, tuple(world.sent[before:]))


WHO = st.sampled_from(["ann", "ann", "bob", "cyd"])
NAME = st.sampled_from(NAMES)
SOME = st.lists(NAME, max_size=3)
CALLED = st.lists(NAME, min_size=3, max_size=6, unique=True)
RIGHT = st.sampled_from([(who, p) for who, given in RIGHTS.items() for p in given])


class Tenants(RuleBasedStateMachine):
    """Everything is done in `main`; what concerns Ann also in `twin`, which has no tenant but her.

    Both share the rights; conversations are values, so hers are the same in both.
    """

    def __init__(self) -> None:
        super().__init__()
        self.live = Live()
        self.main = World(self.live, ["b", "a", "s"])
        self.twin = World(self.live, ["a", "s"])
        self.sessions = {name: [self._new(name)] for name in TENANTS}
        self.turn = 0
        # What acted in each, by its tags.
        self.acted = {name: [frozenset[str]()] for name in TENANTS}

    # --- conversations

    @rule(who=WHO, names=SOME, query=st.sampled_from(("", *QUERIES)), branch=st.integers(0, 1))
    def search(self, who: str, names: list[str], query: str, branch: int) -> None:
        session = self._session(who, branch)
        asked = {"names": names, "query": query}
        outcome = self.main.toolset.search(session, asked, turn=f"{self.turn}")
        found = [tool.name for tool in (*outcome.enabled, *outcome.already)]
        for name in [*found, *(request.spec.name for request in outcome.approvals)]:
            assert self.live.gives(who, name)
            assert self.main.exists(name)
        if who == "ann":
            other = self.twin.toolset.search(session, asked, turn=f"{self.turn}")
            assert (outcome.text, outcome.data) == (other.text, other.data)
            assert outcome.session.model_dump_json() == other.session.model_dump_json()
        self._keep(who, branch, outcome.session)

    @rule(who=WHO, names=CALLED, branch=st.integers(0, 1), check=st.booleans(), anew=st.booleans())
    def call(self, who: str, names: list[str], branch: int, check: bool, anew: bool) -> None:
        if anew:
            self.turn += 1
            self.search(who, names, "", branch)
        for name in names:
            self._call(who, name, branch, check=check)

    def _call(self, who: str, name: str, branch: int, *, check: bool) -> None:
        session = self._session(who, branch)
        may = self._may(who, session, name)
        after = self.main.toolset.called(session, [name])
        told = call(self.main, after, name, check=check)
        acts = RUNS.get(name, name)
        reaches = acts.partition("__")[0] not in self.main.away
        steps = name != "tidy" or self.live.gives(STEPS, "s__web")
        assert told.ran == ((acts,) if may and reaches and steps else ()), told.text
        self._note(who, branch, after, name if told.ran else "none")
        if who == "ann":
            assert told == call(self.twin, after, name, check=check)
            assert after == self.twin.toolset.called(session, [name])
        self._keep(who, branch, after)

    @rule(who=WHO, allow=st.none() | SOME, name=NAME, inherit=st.sampled_from(Inherit))
    def call_through_a_helper(
        self, who: str, allow: list[str] | None, name: str, inherit: Inherit
    ) -> None:
        session = self._session(who, 0)
        helper = session.child(TENANTS[who].child("helper", allow=allow), inherit, names=[name])
        may = self._may(who, helper, name) and (allow is None or name in allow)
        told = call(self.main, helper, name, check=False)
        assert may or not told.ran
        seen = {tool.name for tool in self.main.toolset.catalog(helper.caller).all()}
        assert seen <= {tool.name for tool in self.main.toolset.catalog(TENANTS[who]).all()}
        if who == "ann":
            assert told == call(self.twin, helper, name, check=False)
            assert self.main.toolset.prompt(helper.caller) == self.twin.toolset.prompt(
                helper.caller
            )

    @rule(who=WHO, branch=st.integers(0, 1), names=SOME, deed=st.sampled_from(Deed))
    def change(self, who: str, branch: int, names: list[str], deed: Deed) -> None:
        session = self._session(who, branch)
        match deed:
            case Deed.DISABLE:
                self._keep(who, branch, session.disable(names))
            case Deed.APPROVE:
                found = map(self.main.toolset.registry.get, names)
                self._keep(who, branch, session.approve(entry.spec for entry in found if entry))
            case Deed.FORK:
                self.sessions[who] = [session, session]
                self.acted[who] = [self.acted[who][branch % len(self.acted[who])]] * 2
            case Deed.MERGE:
                self.sessions[who] = [session.merge(self._session(who, branch + 1))]
                self.acted[who] = [frozenset[str]().union(*self.acted[who])]
            case Deed.BEGIN:
                self.sessions[who], self.acted[who] = [self._new(who)], [frozenset[str]()]
            case Deed.STORE:
                self._keep(who, branch, Session.model_validate_json(session.model_dump_json()))

    # --- rights

    @rule(right=RIGHT | st.just((STEPS, "s__web")))
    def change_a_right(self, right: tuple[str, str]) -> None:
        self.live.granted[right[0]] ^= {right[1]}

    @rule(fails=st.sets(NAME, max_size=2))
    def the_policy_fails_elsewhere(self, fails: set[str]) -> None:
        self.live.fails = fails

    # --- servers

    @rule(
        source=st.sampled_from(sorted(OFFERED)),
        lost=st.sampled_from([None, None, 0, 1, 2]),
        version=st.integers(0, 1),
        away=st.sampled_from([False, False, False, True]),
    )
    def reload(self, source: str, lost: int | None, version: int, away: bool) -> None:
        tools = [tool for at, tool in enumerate(OFFERED[source]) if at != lost]
        for world in (self.main, self.twin):
            world.reload(source, tools, version, away=away)

    # --- always

    @invariant()
    def ann_is_told_what_she_would_be_told_alone(self) -> None:
        main, twin = self.main.toolset, self.twin.toolset
        assert main.prompt(ANN) == twin.prompt(ANN)
        for session in self.sessions["ann"]:
            bound, alone = ([e.spec for e in t.bound(session)] for t in (main, twin))
            assert bound == alone

    @invariant()
    def nobody_sees_what_is_not_theirs(self) -> None:
        for name, caller in TENANTS.items():
            seen = {tool.name for tool in self.main.toolset.catalog(caller).all()}
            assert seen == {
                tool for tool in NAMES if self.live.gives(name, tool) and self.main.exists(tool)
            }

    def _new(self, who: str) -> Session:
        """A conversation with more enabled than a search would enable: the call decides."""
        caller = TENANTS[who]
        return Session(caller=caller).enable(self.main.toolset.registry.specs_for(caller))

    def _session(self, who: str, branch: int) -> Session:
        return self.sessions[who][branch % len(self.sessions[who])]

    def _keep(self, who: str, branch: int, session: Session) -> None:
        self.sessions[who][branch % len(self.sessions[who])] = session

    def _note(self, who: str, branch: int, session: Session, name: str) -> None:
        """Hold what acted in a conversation against the trifecta."""
        acted = self.acted[who]
        at = branch % len(acted)
        tags = TAGS.get(name, set())
        if tags and acted[at] | tags >= THREE:
            entry = self.main.toolset.registry.get(name)
            assert entry is not None
            assert session.approves(entry.spec)
        acted[at] |= tags

    def _may(self, who: str, session: Session, name: str) -> bool:
        """Whether a call may run, as this test sees it."""
        entry = self.main.toolset.registry.get(name)
        if entry is None or not self.main.exists(name) or not self.live.gives(who, name):
            return False
        held = {(e.name, e.digest) for e in session.enabled(64)}
        tags = TAGS.get(name, set())
        completes = bool(tags) and set(session.exposed) | tags >= THREE
        free = not completes or session.approves(entry.spec)
        return (name, entry.spec.digest) in held and free


def run(examples: int, steps: int, phases: Sequence[Phase]) -> None:
    # Policies and plugins fail on purpose here, each with a trace back.
    logging.disable(logging.ERROR)
    try:
        run_state_machine_as_test(
            Tenants,
            settings=settings(
                max_examples=examples, stateful_step_count=steps, phases=phases, deadline=None
            ),
        )
    finally:
        logging.disable(logging.NOTSET)


def test_nothing_runs_outside_the_rights_of_its_moment_and_no_tenant_shows_to_another() -> None:
    # What fails is shown as it was found: to make it shorter takes minutes.
    run(examples=24, steps=30, phases=[Phase.reuse, Phase.generate])


if __name__ == "__main__":
    run(examples=int(sys.argv[1]), steps=80, phases=list(Phase))
