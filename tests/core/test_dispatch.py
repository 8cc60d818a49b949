"""A call from the model's words to the tool and back: contracts mapped to a real server too."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from deferred_tools import (
    Caller,
    Session,
    Tier,
    ToolResult,
    Toolset,
    ToolSpec,
    ToolTag,
    hookimpl,
)
from deferred_tools.approval import ApprovalRequest
from deferred_tools.errors import (
    ApprovalNeededError,
    DeferredToolsError,
    InvalidArgumentsError,
    MappingFailedError,
    ModelError,
    ToolNotEnabledError,
    ToolRefusedError,
    UnknownToolError,
)
from deferred_tools.registered import RegisteredTool, Route
from deferred_tools.settings import Settings
from deferred_tools.sources.mcp import McpServers
from deferred_tools.testing.sources import ScriptedSource, ScriptedTool, ready
from tests.support.servers import raw

ROOT = Caller.root()
EVE = Caller.principal("eve", roles=["writer"])
IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
TEXT = {"type": "text", "text": "made"}
MAIL = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "copies": {"type": "integer"}},
    "required": ["to"],
}


def enabled(toolset: Toolset, *names: str, caller: Caller = ROOT) -> Session:
    return toolset.search(Session(caller=caller), {"names": list(names)}).session


# --- contracts that a real server carries out

CALLS = {
    "echo": "echo",
    "picture": {"result": {"content": [TEXT, IMAGE]}},
    "only": {"result": {"content": [IMAGE]}},
    "json": {"result": {"content": [{"type": "text", "text": '{"id": 5}'}]}},
    "fails": {"result": {"content": [{"type": "text", "text": "no such box"}], "isError": True}},
    "both": {"result": {"content": [TEXT], "structuredContent": {"id": 7, "secret": "x"}}},
}


def contract(tool: str, **override: str) -> dict[str, Any]:
    return {"server": "mail", "tool": tool, **override}


SETTINGS: dict[str, Any] = {
    "instance": "eu-1",
    "contracts": {
        name: {"input": MAIL}
        for name in (
            "plain",
            "full",
            "late",
            "never",
            "seen",
            "image",
            "bare",
            "error",
            "text",
            "bad_args",
        )
    }
    | {
        "typed": {
            "input": MAIL,
            "output": {"type": "object", "properties": {"id": {"type": "string"}}},
        }
    },
    "overrides": {
        "plain": contract("echo"),
        "full": contract(
            "echo",
            args="{'address': args.to, 'from': ctx.instance, 'run': ctx.run, "
            "'who': ctx.caller.kind + '/' + ctx.caller.name, 'roles': ctx.caller.roles}",
            result="{'sent': result.structuredContent, 'ok': !result.isError}",
        ),
        "late": contract("both", result="result.structuredContent.nobody"),
        "never": contract("both", args="{'a': args.absent}"),
        "seen": contract("both", result="{'id': result.structuredContent.id}"),
        "image": contract("picture"),
        "bare": contract("only"),
        "error": contract("fails", result="{'id': result.structuredContent.id}"),
        "text": contract("json"),
        "bad_args": contract("both", args="[args.to]"),
        "typed": contract("both", result="{'id': result.structuredContent.id}"),
    },
    "servers": {"mail": {"deny": ["*"]}},
    "grants": [{"tools": ["*"]}],
}
TO = {"to": "ann@example.org"}


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What reached the server, a line each."""
    return tmp_path_factory.mktemp("mail") / "ledger"


@pytest.fixture(scope="module")
def mail(ledger: Path) -> Iterator[Toolset]:
    servers = McpServers.from_dict({"mcpServers": {"mail": raw(tools=CALLS, ledger=str(ledger))}})
    with Toolset.from_sources(servers, settings=Settings.from_dict(SETTINGS)) as toolset:
        yield toolset


def reached(ledger: Path) -> list[tuple[str, Any]]:
    lines = (line.partition(" ") for line in ledger.read_text().splitlines())
    return [(name, json.loads(told)) for name, _, told in lines if name != "tools/list"]


def call(toolset: Toolset, name: str, arguments: Any, caller: Caller = EVE) -> ToolResult:
    return toolset.call(enabled(toolset, name, caller=caller), name, arguments, run="r-1")


def test_a_contract_without_expressions_passes_through(mail: Toolset, ledger: Path) -> None:
    result = call(mail, "plain", TO)
    assert (result.structured, result.text) == (TO, "done")
    assert reached(ledger)[-1] == ("echo", TO)


def test_expressions_see_arguments_context_and_result(mail: Toolset, ledger: Path) -> None:
    sent = {
        "address": "ann@example.org",
        "from": "eu-1",
        "run": "r-1",
        "who": "principal/eve",
        "roles": ["writer"],
    }
    result = call(mail, "full", TO)
    assert result.structured == {"sent": sent, "ok": True}
    assert json.loads(result.text) == result.structured
    assert reached(ledger)[-1] == ("echo", sent)


def test_arguments_are_checked_and_read_by_the_contract_before_they_are_mapped(
    mail: Toolset, ledger: Path
) -> None:
    result = call(mail, "plain", {"to": "ann", "copies": "2"})
    assert result.structured == {"to": "ann", "copies": 2}
    assert len(result.notes) == 1
    before = reached(ledger)
    with pytest.raises(InvalidArgumentsError, match="missing 'to'"):
        call(mail, "full", {})
    assert reached(ledger) == before


def test_other_content_passes_where_no_expression_says_otherwise(mail: Toolset) -> None:
    result = call(mail, "image", TO)
    assert result.content == (TEXT, IMAGE)
    assert result.structured == "made"


def test_no_text_at_all_is_nothing_structured(mail: Toolset) -> None:
    result = call(mail, "bare", TO)
    assert (result.content, result.structured, result.notes) == ((IMAGE,), None, ())


def test_text_that_is_json_becomes_the_output(mail: Toolset) -> None:
    assert call(mail, "text", TO).structured == {"id": 5}


def test_what_an_expression_leaves_out_goes_no_further(mail: Toolset) -> None:
    result = call(mail, "seen", TO)
    assert result.structured == {"id": 7}
    assert "secret" not in repr(result)


def test_an_error_of_the_server_stays_one_and_is_not_mapped(mail: Toolset) -> None:
    result = call(mail, "error", TO)
    assert (result.is_error, result.text) == (True, "no such box")


def test_a_mapping_that_fails_before_the_call_sends_nothing(mail: Toolset, ledger: Path) -> None:
    before = reached(ledger)
    for name in ("never", "bad_args"):
        with pytest.raises(MappingFailedError) as raised:
            call(mail, name, TO)
        told = str(raised.value)
        assert told.startswith(f"{name!r} was not run: its arguments could not be mapped to the")
        assert "ann@example.org" not in told
    assert reached(ledger) == before


def test_a_mapping_that_fails_after_the_call_says_that_it_ran(mail: Toolset, ledger: Path) -> None:
    before = reached(ledger)
    result = call(mail, "late", TO)
    assert result.is_error
    assert result.text.startswith("'late' ran, but its result could not be mapped: the 'result' ")
    assert result.text.endswith("It may have had an effect; check before calling it again.")
    assert len(reached(ledger)) == len(before) + 1, "and it is not called again"


def test_an_output_that_does_not_fit_the_contract_is_kept_with_a_note(mail: Toolset) -> None:
    result = call(mail, "typed", TO)
    assert (result.structured, result.is_error) == ({"id": 7}, False)
    assert result.notes == (
        "'typed': structured result does not fit its schema: id: expected a string, not an integer",
    )


def test_a_model_reaches_the_servers_own_tools_by_no_name(mail: Toolset, ledger: Path) -> None:
    before = reached(ledger)
    for name in ("mail__echo", "echo", "mail__both"):
        (miss,) = mail.search(Session(caller=ROOT), {"names": [name]}).misses
        assert miss.reason.value == "no_match"
        with pytest.raises(UnknownToolError):
            mail.call(Session(caller=ROOT), name, {})
    assert reached(ledger) == before
    assert mail.registry.route("plain") is Route.MAPPED


def test_mapped_arguments_must_fit_the_servers_tool() -> None:
    tool = ScriptedTool("send", input_schema={"type": "object", "required": ["address"]})
    settings = {
        "contracts": {"mail": {"input": MAIL}},
        "overrides": {"mail": {"server": "s", "tool": "send"}},
    }
    options = Settings.from_dict(settings)
    with (
        Toolset([ScriptedSource("s", ready(tool))], settings=options) as toolset,
        pytest.raises(MappingFailedError, match=r"does not fit 'send' of 's': missing"),
    ):
        toolset.call(enabled(toolset, "mail"), "mail", TO)
    assert tool.calls == []


# --- contracts that code carries out


def double(n: int) -> dict[str, int]:
    """Twice as much."""
    return {"n": 2 * n}


@pytest.mark.parametrize(
    "implementation",
    [double, f"{__name__}:double", ScriptedTool("x", answer=ToolResult(structured={"n": 8}))],
    ids=["function", "import string", "tool"],
)
def test_a_contract_runs_its_implementation(implementation: object) -> None:
    number = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    told = {"input": number, "output": number, "implementation": implementation}
    settings = Settings.from_dict({"contracts": {"twice": told}})
    with Toolset([], settings=settings) as toolset:
        session = enabled(toolset, "twice")
        assert toolset.call(session, "twice", {"n": "4"}).structured == {"n": 8}
        with pytest.raises(InvalidArgumentsError, match=r"'twice'.*missing 'n'"):
            toolset.call(session, "twice", {})


# --- whether a call may run


def toolset_of(*tools: ScriptedTool, **settings: Any) -> Toolset:
    options = Settings.from_dict(settings)
    return Toolset([ScriptedSource("s", ready(*tools))], settings=options)


def test_check_says_how_the_tool_takes_the_arguments_and_runs_nothing() -> None:
    tool = ScriptedTool("mail", input_schema=MAIL)
    with toolset_of(tool) as toolset:
        session = enabled(toolset, "s__mail")
        admitted = toolset.check(session, "s__mail", {"to": "ann", "copies": "2"})
        assert admitted.arguments == {"to": "ann", "copies": 2}
        assert len(admitted.notes) == 1
        assert admitted.session is session
        with pytest.raises(InvalidArgumentsError):
            toolset.check(session, "s__mail", {"to": 5})
        lax = toolset.check(session, "s__mail", {"to": 5}, strict=lambda entry: False)
        assert lax.arguments == {"to": 5}, "whoever calls it checks it"
    assert tool.calls == []


def test_nothing_is_read_from_text_where_the_host_says_so() -> None:
    with (
        toolset_of(ScriptedTool("mail", input_schema=MAIL), coerce=False) as toolset,
        pytest.raises(InvalidArgumentsError, match="copies: expected an integer"),
    ):
        toolset.call(enabled(toolset, "s__mail"), "s__mail", {"to": "ann", "copies": "2"})


class Refusals:
    """Notes why calls were refused."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []

    @hookimpl
    def deferred_tools_refused(self, caller: Caller, name: str, error: Exception) -> None:
        self.told.append((name, type(error).__name__))


CHECKS: list[Callable[[Toolset, Session, str], object]] = [
    lambda toolset, session, name: toolset.call(session, name, {}),
    lambda toolset, session, name: toolset.check(session, name, {}),
]


@pytest.mark.parametrize("attempt", CHECKS, ids=["call", "check"])
def test_every_refusal_is_told_once(attempt: Callable[[Toolset, Session, str], object]) -> None:
    refusals = Refusals()
    source = ScriptedSource("s", ready(ScriptedTool("mail", input_schema=MAIL), ScriptedTool("b")))
    settings = Settings.from_dict({"disabled": ["s__b"]})
    with Toolset([source], settings=settings, plugins=[refusals]) as toolset:
        session = enabled(toolset, "s__mail")
        for name in ("s__mail", "s__b", "none"):
            with pytest.raises(ModelError):
                attempt(toolset, session, name)
    assert refusals.told == [
        ("s__mail", "InvalidArgumentsError"),
        ("s__b", "ToolRefusedError"),
        ("none", "UnknownToolError"),
    ]


class Observer(Refusals):
    """Notes searches too."""

    @hookimpl
    def deferred_tools_searched(self, caller: Caller, query: str, found: tuple[str, ...]) -> None:
        self.told.append((query, repr(found)))


def test_observers_hear_of_a_forbidden_tool_what_they_hear_of_none() -> None:
    def told(*tools: ScriptedTool) -> list[tuple[str, str]]:
        observer = Observer()
        settings = Settings.from_dict({"grants": [{"tools": ["s__mail"]}]})
        sources = [ScriptedSource("s", ready(*tools))]
        with Toolset(sources, settings=settings, plugins=[observer]) as toolset:
            session = Session(caller=EVE).enable(toolset.registry.specs)
            toolset.search(session, {"query": "secret mail", "names": ["s__secret"]})
            for attempt in CHECKS:
                with pytest.raises(UnknownToolError):
                    attempt(toolset, session, "s__secret")
        return observer.told

    mail, secret = ScriptedTool("mail", "Send mail."), ScriptedTool("secret", "Secret mail.")
    assert told(secret, mail) == told(mail)
    assert secret.calls == []


# --- approvals at the call

TAGS = {"s__read": ["untrusted_input"], "s__box": ["sensitive"], "s__send": ["egress"]}
TOOLS = ("read", "box", "send")


def ended(toolset: Toolset) -> Session:
    """A conversation that has read and looked, and had `send` enabled before it did."""
    session = Session(caller=ROOT).enable(toolset.registry.specs)
    return toolset.called(session, ["s__read", "s__box"])


def asking(rule: str) -> tuple[Toolset, list[ScriptedTool]]:
    tools = [ScriptedTool(name) for name in TOOLS]
    return toolset_of(*tools, tags=TAGS, trifecta=rule), tools


def test_the_host_is_asked_once_and_what_it_lets_through_runs() -> None:
    asked: list[Sequence[ApprovalRequest]] = []

    def approve(requests: Sequence[ApprovalRequest]) -> list[str]:
        asked.append(requests)
        return ["s__send", "s__none"]

    toolset, (_, _, send) = asking("ask")
    with toolset:
        session = ended(toolset)
        admitted = toolset.check(session, "s__send", {}, approve=approve)
        assert admitted.session.approves(admitted.entry.spec)
        assert not session.approves(admitted.entry.spec), "the session given is not changed"
        toolset.call(admitted.session, "s__send", {})
        toolset.check(admitted.session, "s__send", {}, approve=approve)
    assert send.calls == [{}]
    ((request,),) = asked
    assert request.data == {
        "name": "s__send",
        "description": "",
        "tags": ["egress"],
        "reason": "it is tagged egress, and this conversation already has tools tagged sensitive, "
        "untrusted_input: together they could carry private data out on the word of a stranger",
    }
    assert json.loads(json.dumps(request.data)) == request.data


@pytest.mark.parametrize("answer", [[], ["s__read"], ["s__SEND"], [""], "not s__send"], ids=str)
def test_what_the_host_does_not_name_stays_refused(answer: Sequence[str]) -> None:
    toolset, (_, _, send) = asking("ask")
    with toolset:
        session = ended(toolset)
        with pytest.raises(ApprovalNeededError):
            toolset.check(session, "s__send", {}, approve=lambda _: answer)
        with pytest.raises(ApprovalNeededError):
            toolset.call(session, "s__send", {})
    assert send.calls == []


def test_nobody_is_asked_where_the_host_refuses() -> None:
    toolset, (_, _, send) = asking("refuse")
    with toolset:
        session = ended(toolset)
        with pytest.raises(ToolRefusedError) as raised:
            toolset.check(session, "s__send", {}, approve=lambda _: pytest.fail("it asked"))
        assert not isinstance(raised.value, ApprovalNeededError)
        assert toolset.check(session, "s__box", {})
    assert send.calls == []


def test_what_interrupts_the_run_goes_through_and_nothing_ran() -> None:
    class PausedError(Exception):
        pass

    def interrupt(requests: Sequence[ApprovalRequest]) -> list[str]:
        raise PausedError

    toolset, (_, _, send) = asking("ask")
    with toolset, pytest.raises(PausedError):
        toolset.check(ended(toolset), "s__send", {}, approve=interrupt)
    assert send.calls == []


def test_what_was_taken_away_while_the_host_thought_is_not_let_through() -> None:
    allowed = {"s__read", "s__box", "s__send"}

    class Live:
        def allows(self, caller: Caller, spec: ToolSpec) -> bool:
            return spec.name in allowed

    def approve(requests: Sequence[ApprovalRequest]) -> list[str]:
        allowed.discard("s__send")
        return ["s__send"]

    tools = [ScriptedTool(name) for name in TOOLS]
    settings = Settings.from_dict({"tags": TAGS, "trifecta": "ask"})
    source = ScriptedSource("s", ready(*tools))
    with (
        Toolset([source], settings=settings, policies=[Live()]) as toolset,
        pytest.raises(UnknownToolError),
    ):
        toolset.check(ended(toolset), "s__send", {}, approve=approve)


def test_an_approval_is_for_the_tool_as_it_was() -> None:
    toolset, _ = asking("ask")
    with toolset:
        spec = toolset.registry.tools["s__send"].spec
        session = ended(toolset).approve([spec])
        assert toolset.check(session, "s__send", {})
    changed = toolset_of(
        ScriptedTool("read"), ScriptedTool("box"), ScriptedTool("send", "New."),
        tags=TAGS, trifecta="ask",
    )  # fmt: skip
    with changed:
        again = session.enable(changed.registry.specs)
        with pytest.raises(ApprovalNeededError):
            changed.check(again, "s__send", {})


# --- what is the same, and what only looks it


@pytest.mark.parametrize(("one", "other"), [(1, True), (1, 1.0), (0, False)])
def test_a_change_that_python_takes_for_none_needs_a_new_search_like_any(
    one: object, other: object
) -> None:
    def tool(default: object) -> ScriptedTool:
        schema = {"type": "object", "properties": {"x": {"default": default}}}
        return ScriptedTool("fetch", "Fetch a page.", input_schema=schema)

    first, second = tool(one), tool(other)
    source = ScriptedSource("s", ready(first))
    with Toolset([source]) as toolset:
        session = enabled(toolset, "s__fetch")
        source.push(ready(second))
        _until(lambda: toolset.registry.tools["s__fetch"].tool is second)
        with pytest.raises(ToolNotEnabledError):
            toolset.call(session, "s__fetch", {})
        again = toolset.search(session, {"query": "fetch a page"})
        assert [tool.name for tool in again.enabled] == ["s__fetch"]
        toolset.call(again.session, "s__fetch", {})
    assert (first.calls, second.calls) == ([], [{}])


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        threading.Event().wait(0.002)


def test_what_only_the_host_can_mend_is_told_as_such() -> None:
    with (
        toolset_of(ScriptedTool("odd", input_schema={"type": "int"})) as toolset,
        pytest.raises(DeferredToolsError) as raised,
    ):
        toolset.call(enabled(toolset, "s__odd"), "s__odd", {})
    assert not isinstance(raised.value, ModelError)
    assert "'s__odd'" in str(raised.value)
    assert "'s'" in str(raised.value)


def test_the_registry_answers_each_part_of_a_call_by_itself() -> None:
    settings = {
        "contracts": {"mail": {"input": MAIL, "output": MAIL}},
        "overrides": {
            "mail": {"server": "s", "tool": "send", "args": "{'a': args.to}", "result": "[1]"}
        },
    }
    with toolset_of(ScriptedTool("send"), ScriptedTool("plain"), **settings) as toolset:
        registry = toolset.registry
        assert registry.validate_args("mail", {"to": "x", "copies": "1"}) == {
            "to": "x",
            "copies": 1,
        }
        assert registry.validate_result("mail", {"to": 1}) == (
            "to: expected a string, not an integer",
        )
        assert registry.map_args("mail", {"to": "x"}, {}) == {"a": "x"}
        assert registry.map_result("mail", ToolResult()) == [1]
        assert registry.map_args("s__plain", {"x": 1}, {}) == {"x": 1}
        assert registry.map_result("s__plain", ToolResult(structured=[2])) == [2]
        for ask in (
            lambda: registry.validate_args("none", {}),
            lambda: registry.validate_result("none", {}),
            lambda: registry.map_args("none", {}, {}),
            lambda: registry.map_result("none", ToolResult()),
        ):
            with pytest.raises(UnknownToolError):
                ask()


def test_tags_and_tiers_of_a_mapped_contract_are_the_hosts() -> None:
    settings = {
        "contracts": {"mail": {"tags": ["egress"]}},
        "overrides": {"mail": {"server": "s", "tool": "send"}},
        "tags": {"s__send": ["sensitive"]},
    }
    with toolset_of(ScriptedTool("send"), **settings) as toolset:
        entry: RegisteredTool = toolset.registry.tools["mail"]
    assert entry.spec.tier is Tier.CONTRACT
    assert entry.spec.tags == {ToolTag.EGRESS, ToolTag.SENSITIVE}
