"""A host's procedures as tools: registered once, tagged by what they reach, run step by step."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools import (
    Caller,
    CallerKind,
    Grant,
    Grants,
    Limits,
    Session,
    ToolResult,
    Toolset,
    ToolSpec,
    ToolTag,
    hookimpl,
)
from deferred_tools.errors import (
    ConfigurationError,
    InvalidArgumentsError,
    RegistryBuildError,
    SourceUnavailableError,
    StepFailedError,
    ToolRefusedError,
    ToolTimeoutError,
    UnknownToolError,
)
from deferred_tools.testing.sources import ScriptedSource, ScriptedTool, ready
from deferred_tools.workflows import Step, Workflow, WorkflowTool, problems_of, reached
from tests.core.building.parts import build, nothing, own, problems, server, workflow

ROOT, EVE = Caller.root(), Caller.principal("eve")
NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def enabled(toolset: Toolset, *names: str, caller: Caller = ROOT) -> Session:
    return toolset.search(Session(caller=caller), {"names": list(names)}).session


def steps(*names: str, **given: Any) -> Callable[[dict[str, Any], Step], Any]:
    """Calls `names` one after the other and gives the last answer."""

    async def run(arguments: dict[str, Any], step: Step) -> Any:
        result = ToolResult()
        for name in names:
            result = await step(name, dict(given))
        return result

    return run


def toolset_of(tools: Iterable[ScriptedTool], *workflows: Workflow, **options: Any) -> Toolset:
    source = ScriptedSource("s", ready(*tools))
    return Toolset([source], **options).register_workflow_tools(workflows)


# --- registered once, by the host


def test_workflows_are_registered_once_and_before_the_first_use() -> None:
    toolset = Toolset.from_sources(ScriptedTool("t"))
    assert toolset.register_workflow_tools([workflow("w", "t")]) is toolset
    with pytest.raises(ConfigurationError, match="registered once, before the toolset is first"):
        toolset.register_workflow_tools([workflow("v", "t")])
    with toolset:
        assert toolset.registry.names() == ("w", "t")
    without = Toolset.from_sources(ScriptedTool("t")).register_workflow_tools([])
    with pytest.raises(ConfigurationError, match="registered once"):
        without.register_workflow_tools([workflow("w", "t")])
    used = Toolset.from_sources(ScriptedTool("t"))
    with used:
        pass
    with pytest.raises(ConfigurationError, match="registered once"):
        used.register_workflow_tools([workflow("w", "t")])
    with used:
        assert used.registry.names() == ("t",)


def test_a_call_can_neither_add_nor_shadow_a_tool() -> None:
    told: list[str] = []

    def extend() -> str:
        try:
            toolset.register_workflow_tools([workflow("t", "extend")])
        except ConfigurationError as error:
            told.append(str(error))
        return "done"

    toolset = Toolset.from_sources(extend, ScriptedTool("t"))
    with toolset:
        before = toolset.registry
        toolset.call(enabled(toolset, "extend"), "extend", {})
        assert toolset.registry is before
    assert len(told) == 1


def test_workflows_stay_when_sources_change_and_when_it_opens_again() -> None:
    toolset = toolset_of([ScriptedTool("a")], workflow("w", "s__a"))
    for _ in range(2):
        with toolset:
            assert toolset.registry.names() == ("w", "s__a")


@pytest.mark.parametrize(
    ("workflows", "told"),
    [
        ([workflow("w"), workflow("w")], "two workflows are named 'w': rename one"),
        (
            [replace(workflow("w"), tags=frozenset({ToolTag.EGRESS}))],
            (
                "the workflow 'w' declares tags, which are derived from the tools that it uses: "
                "remove them"
            ),
        ),
        (
            [workflow("w", "w")],
            "the workflow 'w' uses itself, at once or through others: break the cycle",
        ),
        (
            [workflow("a", "b"), workflow("b", "c"), workflow("c", "b")],
            "the workflow 'b' uses itself, at once or through others: break the cycle",
        ),
        (
            [workflow("w", "none")],
            "the workflow 'w' is unavailable: it uses 'none', which cannot be called",
        ),
        (
            [replace(workflow("w"), input_schema={"type": "int"})],
            "a schema of 'w' cannot be used: the root must be of type 'object', not 'int'",
        ),
        (
            [workflow("a w")],
            "no model could call 'a w': use at most 64 of a-z, A-Z, 0-9, '_' and '-'",
        ),
        (
            [workflow("tool_search")],
            "a tool is named 'tool_search', which is the search tool's own name: rename yours",
        ),
    ],
)
def test_a_workflow_that_cannot_be_stops_the_start(workflows: list[Workflow], told: str) -> None:
    assert told in problems({}, own("t"), workflows=workflows)
    with pytest.raises(RegistryBuildError):
        Toolset.from_sources(ScriptedTool("t")).register_workflow_tools(workflows).open()


def test_a_workflow_lacks_a_tool_that_the_host_took_away() -> None:
    workflows = [workflow("w", "t")]
    registry = build({"disabled": ["t"]}, own("t", "u"), workflows=workflows)
    assert registry.names() == ("u",)
    assert registry.absent["w"].why == "it uses 't', which cannot be called"
    denied = {"servers": {"functions": {"deny": ["t"]}}}
    assert problems(denied, own("t", "u"), workflows=workflows), "it does not exist"


# --- tags

CYCLES = st.lists(
    st.tuples(st.sampled_from("abcd"), st.lists(st.sampled_from("abcdt"), max_size=3)),
    unique_by=lambda made: made[0],
    max_size=4,
)


@given(CYCLES)
def test_every_cycle_is_found_and_nothing_else_is_one(
    made: list[tuple[str, list[str]]],
) -> None:
    by_name = {name: workflow(name, *uses) for name, uses in made}

    def comes_back(name: str, path: tuple[str, ...] = ()) -> bool:
        uses = by_name[name].uses if name in by_name else ()
        start = path[0] if path else name
        return start in uses or any(
            comes_back(used, (*(path or (name,)), used)) for used in uses if used not in path
        )

    told = problems_of(by_name.values())
    assert {name for name in by_name if any(f"{name!r} uses itself" in t for t in told)} == {
        name for name in by_name if comes_back(name)
    }
    assert all(name in by_name or name == "t" or reached(name, by_name) == () for name in "abcdt")


TAGGED = st.dictionaries(
    st.sampled_from("abc"), st.frozensets(st.sampled_from(ToolTag)), min_size=3
)


@given(TAGGED, st.lists(st.lists(st.integers(0, 5), max_size=3), min_size=1, max_size=4))
def test_a_workflow_has_the_tags_of_all_that_it_reaches_and_no_others(
    tags: dict[str, frozenset[ToolTag]], uses: list[list[int]]
) -> None:
    settings = {"tags": {f"s__{name}": sorted(found) for name, found in tags.items()}}
    expected: list[frozenset[ToolTag]] = []
    workflows = []
    for at, chosen in enumerate(uses):
        names, whole = [], frozenset[ToolTag]()
        for number in chosen:
            if number < 3:
                names.append(f"s__{'abc'[number]}")
                whole |= tags["abc"[number]]
            elif at:
                names.append(f"w{number % at}")
                whole |= expected[number % at]
        workflows.append(workflow(f"w{at}", *names))
        expected.append(whole)
    for order in (workflows, workflows[::-1]):
        registry = build(settings, server("s", *"abc"), workflows=order)
        found = [registry.tags_of([f"w{at}"]) for at in range(len(uses))]
        assert found == expected


def test_a_server_cannot_lend_its_tags_to_a_name_of_ours() -> None:
    contracts = {"s__a": {"implementation": "json:dumps", "tags": ["sensitive"]}}
    registry = build({"contracts": contracts}, server("s", "a"), workflows=[workflow("w", "s__a")])
    assert registry.tags_of(["w"]) == {ToolTag.SENSITIVE}


def test_patterns_may_add_to_derived_tags() -> None:
    settings = {"tags": {"w": ["egress"], "t": ["sensitive"]}}
    registry = build(settings, own("t"), workflows=[workflow("w", "t"), workflow("v", "w")])
    assert registry.tags_of(["w"]) == {ToolTag.EGRESS, ToolTag.SENSITIVE}


# --- run


def test_a_workflow_runs_its_steps_with_validated_arguments() -> None:
    tool = ScriptedTool("add", input_schema=NUMBER, answer=ToolResult(structured={"n": 5}))

    async def run(arguments: dict[str, Any], step: Step) -> Any:
        return (await step("s__add", {"n": str(arguments["n"])})).structured

    made = Workflow(name="w", run=run, uses=("s__add",), input_schema=NUMBER, output_schema=NUMBER)
    with toolset_of([tool], made) as toolset:
        session = enabled(toolset, "w")
        assert toolset.call(session, "w", {"n": 4}) == ToolResult(
            content=({"type": "text", "text": '{"n":5}'},), structured={"n": 5}
        )
        assert tool.calls == [{"n": 4}], "read from text, as in any call"
        with pytest.raises(InvalidArgumentsError, match="missing 'n'"):
            toolset.call(session, "w", {})
    assert len(tool.calls) == 1


def test_workflows_call_workflows() -> None:
    tool = ScriptedTool("t", answer=ToolResult(structured={"deep": True}))
    inner = Workflow(name="inner", run=steps("s__t"), uses=("s__t",))
    outer = Workflow(name="outer", run=steps("inner"), uses=("inner",))
    with toolset_of([tool], outer, inner) as toolset:
        result = toolset.call(enabled(toolset, "outer"), "outer", {})
    assert (result.structured, tool.calls) == ({"deep": True}, [{}])


def test_who_may_call_a_workflow_need_not_know_its_tools() -> None:
    tool = ScriptedTool("t", answer=ToolResult(structured={"n": 1}))
    grants = [
        Grant(tools=("w",), kinds=(CallerKind.PRINCIPAL,)),
        Grant(tools=("s__t",), kinds=(CallerKind.WORKFLOW,)),
    ]
    made = Workflow(name="w", run=steps("s__t"), uses=("s__t",))
    with toolset_of([tool], made, policies=[Grants(grants)]) as toolset:
        session = enabled(toolset, "w", "s__t", caller=EVE)
        assert toolset.call(session, "w", {}).structured == {"n": 1}
        with pytest.raises(UnknownToolError):
            toolset.call(session, "s__t", {})
    assert tool.calls == [{}]


class ByStep:
    """A policy that lets workflows call what it holds at that moment."""

    def __init__(self, *names: str) -> None:
        self.names = set(names)
        self.asked: list[tuple[str, str]] = []

    def allows(self, caller: Caller, spec: ToolSpec) -> bool:
        if caller.kind is CallerKind.WORKFLOW:
            self.asked.append((caller.name, spec.name))
            return spec.name in self.names
        return True


def test_every_step_goes_through_policy_at_that_moment() -> None:
    tools = [ScriptedTool("a"), ScriptedTool("b")]
    rule = ByStep("s__a", "s__b")

    async def run(arguments: dict[str, Any], step: Step) -> Any:
        await step("s__a", {})
        rule.names.discard("s__b")
        await step("s__b", {})

    made = Workflow(name="w", run=run, uses=("s__a", "s__b"))
    with toolset_of(tools, made, policies=[rule]) as toolset:
        session = enabled(toolset, "w")
        with pytest.raises(StepFailedError):
            toolset.call(session, "w", {})
    assert ([t.calls for t in tools], rule.asked) == ([[{}], []], [("w", "s__a"), ("w", "s__b")])


class Audit:
    """Notes calls and refusals."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str, str]] = []

    @hookimpl
    def deferred_tools_called(self, caller: Caller, name: str, result: ToolResult) -> None:
        self.told.append(("called", caller.name or caller.kind.value, name))

    @hookimpl
    def deferred_tools_refused(self, caller: Caller, name: str, error: Exception) -> None:
        self.told.append((type(error).__name__, caller.name or caller.kind.value, name))


@pytest.mark.parametrize("name", ["s__other", "s__none", "w", "s__a b"])
def test_a_step_that_was_not_declared_is_refused_and_reaches_nothing(name: str) -> None:
    tools = [ScriptedTool("a"), ScriptedTool("other"), ScriptedTool("a b")]
    audit = Audit()
    made = Workflow(name="w", run=steps("s__a", name), uses=("s__a",))
    with (
        toolset_of(tools, made, plugins=[audit]) as toolset,
        pytest.raises(StepFailedError) as raised,
    ):
        toolset.call(enabled(toolset, "w"), "w", {})
    assert [tool.calls for tool in tools] == [[{}], [], []]
    assert str(raised.value) == (
        "'w' stopped, as one of its steps could not be run. What it did before may have had an "
        "effect; check before calling it again."
    )
    assert isinstance(raised.value.__cause__, UnknownToolError)
    assert audit.told == [
        ("called", "w", "s__a"),
        ("UnknownToolError", "w", name),
        ("StepFailedError", "root", "w"),
    ]


async def unavailable(arguments: dict[str, Any]) -> ToolResult:
    raise SourceUnavailableError("s", "its secret place is away")


async def hangs(arguments: dict[str, Any]) -> ToolResult:
    await anyio.sleep_forever()
    raise AssertionError


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (ScriptedTool("secret", input_schema=NUMBER), {"n": "five"}),
        (ScriptedTool("secret", answer=unavailable), {}),
    ],
    ids=["arguments do not fit", "its source is away"],
)
def test_why_a_step_failed_is_the_hosts_business(
    tool: ScriptedTool, arguments: dict[str, Any]
) -> None:
    inner = Workflow(name="hidden", run=steps("s__secret", **arguments), uses=("s__secret",))
    outer = Workflow(name="w", run=steps("hidden"), uses=("hidden",))
    with toolset_of([tool], outer, inner) as toolset, pytest.raises(StepFailedError) as raised:
        toolset.call(enabled(toolset, "w"), "w", {})
    assert raised.value.workflow == "w"
    assert "secret" not in str(raised.value)
    assert "hidden" not in str(raised.value)
    cause = raised.value.__cause__
    assert isinstance(cause, StepFailedError)
    assert "secret" in str(cause.__cause__)


def test_a_workflow_may_handle_the_failure_of_a_step() -> None:
    async def run(arguments: dict[str, Any], step: Step) -> str:
        try:
            await step("s__t", {})
        except SourceUnavailableError:
            return "later"
        return "now"

    made = Workflow(name="w", run=run, uses=("s__t",))
    with toolset_of([ScriptedTool("t", answer=unavailable)], made) as toolset:
        assert toolset.call(enabled(toolset, "w"), "w", {}).text == "later"


def test_a_failed_result_of_a_step_is_the_workflows_to_judge() -> None:
    failed = ToolResult(content=({"type": "text", "text": "no"},), is_error=True)
    made = Workflow(name="w", run=steps("s__t"), uses=("s__t",))
    with toolset_of([ScriptedTool("t", answer=failed)], made) as toolset:
        assert toolset.call(enabled(toolset, "w"), "w", {}) == failed


def test_what_a_workflow_raises_itself_goes_through_unchanged() -> None:
    error = LookupError("no such row")

    async def run(arguments: dict[str, Any], step: Step) -> Any:
        raise error

    with (
        toolset_of([], Workflow(name="w", run=run)) as toolset,
        pytest.raises(LookupError) as raised,
    ):
        toolset.call(enabled(toolset, "w"), "w", {})
    assert raised.value is error


def test_a_workflow_ends_with_its_deadline_and_so_does_its_step() -> None:
    ended: list[str] = []

    async def slow(arguments: dict[str, Any]) -> ToolResult:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("step")
        raise AssertionError

    made = Workflow(name="w", run=steps("s__t"), uses=("s__t",))
    tools = [ScriptedTool("t", answer=slow)]
    with (
        toolset_of(tools, made, limits=Limits(call_seconds=0.05)) as toolset,
        pytest.raises(ToolTimeoutError, match=r"'w' did not answer within 0\.05 s"),
    ):
        toolset.call(enabled(toolset, "w"), "w", {})
    assert ended == ["step"]


def test_a_cancelled_workflow_cancels_its_step_and_runs_no_more() -> None:
    started, ended = anyio.Event(), []

    async def slow(arguments: dict[str, Any]) -> ToolResult:
        started.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("step")
        raise AssertionError

    after = ScriptedTool("after")
    made = Workflow(name="w", run=steps("s__t", "s__after"), uses=("s__t", "s__after"))

    async def use(toolset: Toolset) -> None:
        session = enabled(toolset, "w")
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(toolset.acall, session, "w", {})
            await started.wait()
            tasks.cancel_scope.cancel()

    with toolset_of([ScriptedTool("t", answer=slow), after], made) as toolset:
        anyio.run(use, toolset)
    assert (ended, after.calls) == (["step"], [])


def test_a_workflow_that_runs_keeps_the_tools_that_there_were() -> None:
    source = ScriptedSource("s", ready(ScriptedTool("t")))

    async def run(arguments: dict[str, Any], step: Step) -> str:
        source.push(ready())
        with anyio.fail_after(5):
            while toolset.knows("s__t"):
                await anyio.lowlevel.checkpoint()
        return (await step("s__t", {})).text or "ran"

    made = Workflow(name="w", run=run, uses=("s__t",))
    toolset = Toolset([source]).register_workflow_tools([made])
    with toolset:
        assert toolset.call(enabled(toolset, "w"), "w", {}).text == "ran"
        assert not toolset.knows("w")
        session = Session(caller=ROOT)
        with pytest.raises(ToolRefusedError, match="nothing carries it out at present"):
            toolset.call(session, "w", {})


def test_side_by_side_steps_are_each_their_own() -> None:
    tool = ScriptedTool("t", input_schema=NUMBER)

    async def run(arguments: dict[str, Any], step: Step) -> None:
        async def one(n: int) -> None:
            await step("s__t", {"n": n})

        async with anyio.create_task_group() as tasks:
            for n in range(5):
                tasks.start_soon(one, n)

    with toolset_of([tool], Workflow(name="w", run=run, uses=("s__t",))) as toolset:
        toolset.call(enabled(toolset, "w"), "w", {})
    assert sorted(call["n"] for call in tool.calls) == [0, 1, 2, 3, 4]


def test_a_workflow_can_only_be_called_where_there_are_steps_for_it() -> None:
    tool = WorkflowTool(Workflow(name="w", run=nothing))
    with pytest.raises(ConfigurationError, match="'w' can only be called through a Toolset"):
        anyio.run(tool.call, {})
