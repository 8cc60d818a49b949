"""The client under test: our source of one MCP server's tools, kept and called as in any host.

The official suite starts it once per scenario, with the server's address as the last argument
and what a person would configure (which client to sign in as, which calls to make) in
`MCP_CONFORMANCE_CONTEXT`. Knows nothing of single scenarios: it calls every tool once.

Exits with 1 when the server cannot be used, or a call got no answer.
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import anyio
import httpx2

from deferred_tools.errors import HostError
from deferred_tools.limits import Limits
from deferred_tools.sources.base import SourceState, SourceStatus, Tool
from deferred_tools.sources.mcp import McpServers, OAuth
from deferred_tools.sources.mcp.oauth.loopback import loopback

# The document that the suite takes for published; see the scenario `auth/basic-cimd`.
_METADATA_URL = "https://conformance-test.local/client-metadata.json"
# Where a sign-in fails, as some scenarios mean it to, a source waits for another.
_READY_SECONDS = 10.0
_SAMPLES: dict[str, Any] = {
    "array": [],
    "boolean": True,
    "integer": 2,
    "number": 2.5,
    "object": {},
    "string": "sample",
}


async def main(url: str) -> int:
    """Connect, and call what is there."""
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    entry = {"url": url, **await _sign_in(url, context)}
    oauth = OAuth(redirect=loopback(_browse), client_metadata_url=_METADATA_URL)
    (source,) = McpServers.from_dict({"mcpServers": {"suite": entry}}, oauth=oauth)
    ready, tools = anyio.Event(), list[Tool]()

    def report(state: SourceState) -> None:
        _say(f"{state.status.value} {state.reason}")
        if state.status is SourceStatus.READY:
            tools[:] = state.tools
            ready.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(source.run, report, Limits())
        with anyio.move_on_after(_READY_SECONDS):
            await ready.wait()
        answered = [await _call(tool, arguments) for tool, arguments in _calls(tools, context)]
        tasks.cancel_scope.cancel()
    return int(not (ready.is_set() and all(answered)))


async def _call(tool: Tool, arguments: dict[str, Any]) -> bool:
    """Whether a call got an answer."""
    try:
        result = await tool.call(arguments)
    except HostError as error:
        _say(f"{tool.spec.tool} got no answer: {error}")
        return False
    _say(f"{tool.spec.tool} answered {result}")
    return True


def _calls(
    tools: Sequence[Tool], context: Mapping[str, Any]
) -> Iterator[tuple[Tool, dict[str, Any]]]:
    """The calls that are asked for, else each tool with something for what it requires."""
    if "toolCalls" in context:
        by_name = {tool.spec.tool: tool for tool in tools}
        yield from ((by_name[call["name"]], call["arguments"]) for call in context["toolCalls"])
        return
    for tool in tools:
        schema = tool.spec.parameters
        properties = schema.get("properties", {})
        arguments = {
            name: _SAMPLES[properties[name]["type"]] for name in schema.get("required", ())
        }
        if "schema" in arguments:  # it wants to see what became of another's schema on the way
            arguments["schema"] = dict(tools[0].spec.parameters)
        yield tool, arguments


async def _browse(url: str) -> None:
    """What a person's browser does, with a person who agrees."""
    async with httpx2.AsyncClient(follow_redirects=True) as browser:
        await browser.get(url)


async def _sign_in(url: str, context: Mapping[str, Any]) -> dict[str, Any]:
    """The `oauth` of the server's entry, as a person would write it."""
    if "client_id" not in context:
        return {}
    oauth = {"clientId": context["client_id"], "clientSecret": context.get("client_secret", "")}
    if "issuer" in context:
        return {"oauth": {**oauth, "issuer": context["issuer"]}}
    # Without a person our side sends a secret only to the issuer that is configured for it.
    issuer = await _issuer(url)
    return {"oauth": {**oauth, "issuer": issuer, "grant": "client_credentials"}}


async def _issuer(url: str) -> str:
    """The authorization server that the server at `url` names."""
    address = httpx2.URL(url)
    path = f"/.well-known/oauth-protected-resource{address.path}"
    async with httpx2.AsyncClient() as http:
        answer = await http.get(address.copy_with(path=path))
        found: str = answer.json()["authorization_servers"][0]
        return found


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(anyio.run(main, sys.argv[-1]))
