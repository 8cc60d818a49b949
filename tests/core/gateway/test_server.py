"""The gateway as clients of the SDK see it, in both generations of the protocol."""

import asyncio
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp.types import ToolListChangedNotification

from deferred_tools import Caller, SourceState, SourceStatus, Toolset
from deferred_tools.gateway.desk import Conversation
from deferred_tools.gateway.server import Gateway
from deferred_tools.sources.base import ToolResult
from deferred_tools.testing.sources import ScriptedSource, ScriptedTool, ready
from tests.support.gateway import (
    MODES,
    PATIENCE,
    in_memory,
    names_of,
    pin,
    scripted,
    text_of,
)

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("mode", MODES)]

NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
EVERY_KIND: list[dict[str, Any]] = [
    {"type": "text", "text": "hi", "annotations": {"audience": ["user"], "priority": 0.5}},
    {"type": "image", "data": "aGk=", "mimeType": "image/png", "_meta": {"x": 1}},
    {"type": "audio", "data": "aGk=", "mimeType": "audio/wav"},
    {"type": "resource_link", "uri": "file:///a", "name": "a", "title": "A", "size": 3},
    {"type": "resource", "resource": {"uri": "file:///b", "text": "b", "mimeType": "text/plain"}},
    {"type": "resource", "resource": {"uri": "file:///c", "blob": "aGk="}},
]


def mail() -> ScriptedTool:
    return ScriptedTool("send", "Send a letter to somebody.", input_schema=NUMBER)


async def test_a_client_sees_three_tools_and_how_to_use_them(mode: str) -> None:
    async with scripted({"mail": [mail()]}) as toolset, in_memory(toolset, mode=mode) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert list(tools) == ["search_tools", "get_tool_schema", "invoke_tool"]
        for name in ("search_tools", "get_tool_schema"):
            hints = tools[name].annotations
            assert hints is not None
            assert (hints.read_only_hint, hints.idempotent_hint) == (True, True)
        assert client.instructions is not None
        assert '<tool name="mail__send">Send a letter to somebody.</tool>' in client.instructions
        assert client.instructions.endswith("</available_tools>")
        assert "tool_search" not in client.instructions


async def test_a_search_tells_enough_to_call_what_it_found(mode: str) -> None:
    async with scripted({"mail": [mail()]}) as toolset, in_memory(toolset, mode=mode) as client:
        found = await client.call_tool("search_tools", {"query": "post a letter"})
        assert found.structured_content == {
            "tools": [
                {
                    "name": "mail__send",
                    "description": "Send a letter to somebody.",
                    "arguments": "n: integer",
                }
            ],
            "misses": [],
            "notes": [],
        }
        missed = await client.call_tool("search_tools", {"names": ["mail__sned"]})
        assert missed.structured_content["misses"][0]["reason"] == "no_match"
        assert not missed.is_error


async def test_the_whole_schema_of_one_tool_can_be_read(mode: str) -> None:
    tool = ScriptedTool("send", "Send.", input_schema=NUMBER, output_schema=NUMBER)
    async with scripted({"mail": [tool]}) as toolset, in_memory(toolset, mode=mode) as client:
        told = await client.call_tool("get_tool_schema", {"name": "mail__send"})
        assert told.structured_content == {
            "name": "mail__send",
            "description": "Send.",
            "inputSchema": NUMBER,
            "outputSchema": NUMBER,
        }


async def test_a_result_of_every_kind_arrives_as_it_was(mode: str) -> None:
    result = ToolResult(
        content=tuple(EVERY_KIND), structured={"n": 1}, is_error=True, meta={"trace": "t1"}
    )
    tool = ScriptedTool("all", answer=result)
    async with (
        scripted({"kinds": [tool]}) as toolset,
        in_memory(toolset, "kinds/all", mode=mode) as client,
    ):
        for name, arguments in (("invoke_tool", {"name": "kinds__all"}), ("all", {})):
            got = await client.call_tool(name, arguments)
            told = got.model_dump(by_alias=True, mode="json", exclude_unset=True)
            assert told["content"] == EVERY_KIND
            assert told["structuredContent"] == {"n": 1}
            assert told["isError"] is True
            assert told["_meta"]["trace"] == "t1"


async def test_arguments_are_fitted_and_checked_before_a_call(mode: str) -> None:
    tool = mail()
    async with (
        scripted({"mail": [tool]}) as toolset,
        in_memory(toolset, "mail/send", mode=mode) as client,
    ):
        wrong = {"name": "mail__send", "arguments": {"n": "many"}}
        for name, arguments in (("invoke_tool", wrong), ("send", {"n": "many"})):
            refused = await client.call_tool(name, arguments)
            assert refused.is_error
            assert "was not run" in text_of(refused)
        assert tool.calls == []
        done = await client.call_tool(
            "invoke_tool", {"name": "mail__send", "arguments": {"n": "3"}}
        )
        assert not done.is_error
        assert done.meta is not None
        assert done.meta["deferred-tools/notes"]
        await client.call_tool("invoke_tool", {"name": "mail__send", "arguments": '{"n": 4}'})
        assert tool.calls == [{"n": 3}, {"n": 4}]


async def test_a_pinned_tool_is_listed_with_its_own_name_and_schemas(mode: str) -> None:
    tool = ScriptedTool("send", "Send.", input_schema=NUMBER, output_schema=NUMBER)
    async with (
        scripted({"mail": [tool, mail()]}) as toolset,
        in_memory(toolset, "mail/send", mode=mode) as client,
    ):
        listed = (await client.list_tools()).tools[-1]
        assert (listed.name, listed.description) == ("send", "Send.")
        assert (listed.input_schema, listed.output_schema) == (NUMBER, NUMBER)


async def test_what_a_caller_may_not_use_does_not_exist_for_it_byte_for_byte(mode: str) -> None:
    settings = {"grants": [{"tools": ["mail__*"], "kinds": ["principal"]}]}
    tool = ScriptedTool("wipe", "Wipe the disk.")
    async with (
        scripted({"mail": [mail()], "disk": [tool]}, settings) as toolset,
        in_memory(toolset, "disk/wipe", mode=mode, caller=Caller.principal("ann")) as client,
    ):
        assert names_of(await client.call_tool("search_tools", {"query": "wipe the disk"})) == []
        assert [tool.name for tool in (await client.list_tools()).tools][3:] == []
        assert "wipe" not in str(client.instructions)
        for name in ("invoke_tool", "get_tool_schema"):
            forbidden = text_of(await client.call_tool(name, {"name": "disk__wipe"}))
            unknown = text_of(await client.call_tool(name, {"name": "disk__none"}))
            assert forbidden == unknown.replace("disk__none", "disk__wipe")
        forbidden = text_of(await client.call_tool("wipe", {}))
        assert forbidden == text_of(await client.call_tool("none", {})).replace("none", "wipe")
        assert tool.calls == []


async def test_three_tags_do_not_meet_in_one_connection(mode: str) -> None:
    tags = {"a__read": ["untrusted_input"], "a__secret": ["sensitive"], "a__send": ["egress"]}
    tools = [ScriptedTool(name) for name in ("read", "secret", "send")]
    async with (
        scripted({"a": tools}, {"tags": tags}) as toolset,
        in_memory(toolset, "a/send", mode=mode) as client,
    ):
        # What is found is not called yet: nothing is held back.
        found = await client.call_tool("search_tools", {"names": list(tags)})
        assert names_of(found) == list(tags)
        for name in ("a__read", "a__secret"):
            assert not (await client.call_tool("invoke_tool", {"name": name})).is_error
        for name, arguments in (("invoke_tool", {"name": "a__send"}), ("send", {})):
            refused = await client.call_tool(name, arguments)
            assert refused.is_error
            assert "word of a stranger" in text_of(refused)
        assert tools[2].calls == []
        assert not (await client.call_tool("invoke_tool", {"name": "a__read"})).is_error


async def test_a_server_that_is_starting_is_told_in_a_search(mode: str) -> None:
    slow = ScriptedSource("slow", SourceState(status=SourceStatus.UNAVAILABLE, reason="it is away"))
    async with Toolset([slow]) as toolset, in_memory(toolset, mode=mode) as client:
        slow.push(SourceState(status=SourceStatus.CONNECTING))
        with anyio.fail_after(PATIENCE):
            while True:
                found = await client.call_tool("search_tools", {"names": ["slow__x"]})
                if found.structured_content["misses"][0]["reason"] == "server_connecting":
                    break


async def test_the_pinned_set_is_followed_and_clients_are_told(mode: str) -> None:
    source = ScriptedSource("mail", ready(mail()))
    changed = anyio.Event()

    async def heard(message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            changed.set()

    async with Toolset([source]) as toolset:
        one = Conversation(Caller.root())
        gateway = Gateway(toolset, [pin("mail/later")], lambda _: one, lasting=True)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(gateway.follow)
            # Over real streams, as notifications of the older generation need these.
            async with Client(
                gateway.server, mode=mode, message_handler=heard, read_timeout_seconds=PATIENCE
            ) as client:
                assert len((await client.list_tools()).tools) == 3
                if mode == "auto":
                    await tasks.start(_listening, client)
                source.push(ready(mail(), ScriptedTool("later")))
                with anyio.fail_after(PATIENCE):
                    await changed.wait()
                listed = await client.list_tools(cache_mode="refresh")
                assert listed.tools[-1].name == "later"
                tasks.cancel_scope.cancel()


async def _listening(client: Client, *, task_status: Any) -> None:
    async with client.listen(tools_list_changed=True) as events:
        task_status.started()
        async for _ in events:
            pass


async def test_a_client_that_gives_up_cancels_the_call(mode: str) -> None:
    started, cancelled = asyncio.Event(), asyncio.Event()

    async def wait(_: dict[str, Any]) -> ToolResult:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        return ToolResult()

    tools = [ScriptedTool("wait", answer=wait)]
    async with scripted({"slow": tools}) as toolset, in_memory(toolset, mode=mode) as client:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "invoke_tool", {"name": "slow__wait"})
            with anyio.fail_after(PATIENCE):
                await started.wait()
            tasks.cancel_scope.cancel()
        with anyio.fail_after(PATIENCE):
            await cancelled.wait()


async def test_what_a_function_raises_ends_in_a_result_without_its_text(
    mode: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(_: dict[str, Any]) -> ToolResult:
        raise ValueError("the password is x")

    tools = [ScriptedTool("fail", answer=fail)]
    async with scripted({"bad": tools}) as toolset, in_memory(toolset, mode=mode) as client:
        told = await client.call_tool("invoke_tool", {"name": "bad__fail"})
        assert told.is_error
        assert "ValueError" in text_of(told)
        assert "password" not in text_of(told)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("search_tools", {"query": ["x"], "names": {"a": 1}, "limit": -5}),
        ("search_tools", {"query": "x" * 100_000, "limit": 10**30}),
        ("search_tools", {"names": ["x"] * 10_000}),
        ("get_tool_schema", {"name": 7}),
        ("get_tool_schema", {"name": "x" * 100_000}),
        ("invoke_tool", {}),
        ("invoke_tool", {"name": "mail__send", "arguments": [1]}),
        ("invoke_tool", {"name": "mail__send", "arguments": {"n": {"n": {"n": []}}}}),
        ("invoke_tool", {"name": "__class__"}),
        ("invoke_tool", {"name": "search_tools", "arguments": {}}),
        ("mail__send", {"n": 1}),
        ("", {}),
    ],
)
async def test_nonsense_is_answered_and_runs_nothing(
    mode: str, name: str, arguments: dict[str, Any]
) -> None:
    tool = mail()
    async with scripted({"mail": [tool]}) as toolset, in_memory(toolset, mode=mode) as client:
        told = await client.call_tool(name, arguments)
        assert told.is_error == (name != "search_tools")
        assert tool.calls == []
        assert not (
            await client.call_tool("invoke_tool", {"name": "mail__send", "arguments": {"n": 1}})
        ).is_error


async def test_a_cursor_that_nobody_gave_is_refused(mode: str) -> None:
    async with scripted({}) as toolset, in_memory(toolset, mode=mode) as client:
        with pytest.raises(MCPError, match="leave out the cursor"):
            await client.list_tools(cursor="2")
