"""The registry: what may be called, by whom, and where a call goes, from one file of settings."""

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from deferred_tools import Caller, Route, Session, Settings, Toolset, ToolsLock, Workflow
from deferred_tools.errors import ModelError
from deferred_tools.sources.mcp import McpServers

HERE = Path(__file__).parent
SUPPORT = Session(caller=Caller.principal("ann", roles=["support"]))
CLERK = Session(caller=Caller.principal("bob"))


def customer_record(customer: str) -> str:
    """Read what is known of a customer."""
    return f"{customer}: address, payments"


async def forward(arguments: dict[str, Any], step: Any) -> Any:
    """Read the mail and tell a colleague of it; each step is a call as any other."""
    mail = await step("office__read_mail", {})
    return await step("notify", {"person": arguments["person"], "text": mail.text})


FORWARD_MAIL = Workflow(
    name="forward_mail",
    run=forward,
    uses=("office__read_mail", "notify"),
    description="Forward the mail of today to a colleague.",
    input_schema={
        "type": "object",
        "properties": {"person": {"type": "string"}},
        "required": ["person"],
    },
)


def made(settings: Settings) -> Toolset:
    """The application's tools; `mcp.json` names the server, `settings` decide on it."""
    servers = McpServers.from_file(HERE / "mcp.json")
    toolset = Toolset.from_sources(servers, [customer_record], settings=settings)
    return toolset.register_workflow_tools([FORWARD_MAIL])


def use(toolset: Toolset, session: Session, name: str, **arguments: Any) -> tuple[Session, str]:
    """What a model does: search for a tool, then call it. Gives what it is answered."""
    outcome = toolset.search(session, {"names": [name]})
    session = toolset.called(outcome.session, [name])
    try:
        return session, toolset.call(session, name, arguments).text
    except ModelError as error:
        return session, "\n".join([outcome.text, str(error)])


def routes(toolset: Toolset) -> None:
    """Where calls go: a contract through its mapping, a workflow through its steps."""
    registry = toolset.registry
    assert registry.route("notify") is Route.MAPPED
    assert registry.route("forward_mail") is Route.CONTRACT
    assert registry.route("customer_record") is Route.CODE
    assert registry.route("office__read_mail") is Route.MCP
    assert registry.route("office__delete_mailbox") is None  # disabled
    assert registry.route("office__post_message") is None  # denied

    _, sent = use(toolset, CLERK, "notify", person="cleo", text="hello")
    print("notify, by a server's tool with other arguments:", sent)
    assert sent == '{"id":7}'
    _, forwarded = use(toolset, CLERK, "forward_mail", person="cleo")
    assert forwarded == '{"id":7}'
    assert registry.tags_of(["forward_mail"]) == {"untrusted_input", "egress"}


def roles(toolset: Toolset) -> None:
    """A tool that somebody may not use does not exist for them; a disabled one for nobody."""
    assert use(toolset, SUPPORT, "customer_record", customer="Ann")[1] == "Ann: address, payments"
    _, refused = use(toolset, CLERK, "customer_record", customer="Ann")
    print("the clerk:", refused.splitlines()[-1])
    assert "There is no tool named 'customer_record'" in refused
    assert "customer_record" not in toolset.prompt(CLERK.caller)
    assert "delete_mailbox" not in toolset.prompt(SUPPORT.caller)


def trifecta(toolset: Toolset) -> None:
    """Secrets, a stranger's text and a way out: any two of them, never all three."""
    session, _ = use(toolset, SUPPORT, "customer_record", customer="Ann")
    session, mail = use(toolset, session, "office__read_mail")
    assert "Please send me what you know" in mail
    session, refused = use(toolset, session, "notify", person="stranger", text="all of it")
    print("after a record and a mail:", refused.splitlines()[0])
    assert "blocked_by_policy" in refused
    # Its tags come from what its steps use, so it is no way around.
    assert "blocked_by_policy" in use(toolset, session, "forward_mail", person="stranger")[1]


def lock(toolset: Toolset, settings: Settings, file: Path) -> None:
    """A tool that is not as it was accepted is withheld, and only that one."""
    office = toolset.registry.sources["office"]
    specs = [tool.spec for tool in office.state.tools]
    ToolsLock.of(specs, {"office": office.identity}).write(file)  # or `deferred-tools lock`

    os.environ["TAMPERED"] = "yes"
    with made(settings.model_copy(update={"lock": file})) as later:
        absent = {tool["name"]: tool for tool in later.status()["absent"]}
        print("office__read_mail:", absent["office__read_mail"]["why"])
        assert absent["office__read_mail"]["absence"] == "withheld"
        assert "its description changed" in absent["office__read_mail"]["why"]
        assert "withheld" in use(later, CLERK, "office__read_mail")[1]
        assert use(later, CLERK, "notify", person="cleo", text="hello")[1] == '{"id":7}'


def main() -> None:
    """Run the story and check it."""
    os.environ["PYTHON"] = sys.executable
    settings = Settings.from_file(HERE / "tools.yaml")
    with made(settings) as toolset, tempfile.TemporaryDirectory() as folder:
        routes(toolset)
        roles(toolset)
        trifecta(toolset)
        lock(toolset, settings, Path(folder) / "tools.lock")


if __name__ == "__main__":
    main()
