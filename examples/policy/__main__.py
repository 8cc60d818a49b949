"""Who may reach what: a tool that a caller may not use does not exist for it."""

from dataclasses import dataclass

from langchain.agents import create_agent
from langchain_core.messages import HumanMessage

from deferred_tools import Caller, CallerKind, Grant, Grants, Toolset
from examples.scripted import answers, call, says, script
from langchain_deferred_tools.middleware import DeferredToolsMiddleware


def read_invoice(number: int) -> str:
    """Read an invoice."""
    return f"invoice {number}: 120.00"


def delete_invoice(number: int) -> str:
    """Delete an invoice for good."""
    return f"invoice {number} deleted"


@dataclass
class Login:
    """What the application knows of who is logged in."""

    user: str
    roles: tuple[str, ...]


def caller(context: Login, _config: object) -> Caller:
    """Tells the toolset who runs the agent; from the host, never from the model."""
    return Caller.principal(context.user, roles=context.roles)


def ask(toolset: Toolset, login: Login) -> list[str]:
    """What a model that tries to delete an invoice is answered."""
    model = script(
        says("", call("tool_search", names=["delete_invoice"], query="delete an invoice")),
        says("", call("delete_invoice", number=7)),
        says("done"),
    )
    middleware = DeferredToolsMiddleware(toolset, caller=caller)
    agent = create_agent(model, middleware=[middleware], context_schema=Login)
    state = agent.invoke({"messages": [HumanMessage("Delete invoice 7")]}, context=login)
    return answers(state["messages"])


def main() -> None:
    """Run the story and check it."""
    users = (CallerKind.PRINCIPAL,)
    grants = Grants(
        [
            Grant(tools=("read_*",), kinds=users),
            Grant(tools=("*",), kinds=users, roles=("accountant",)),
        ]
    )
    with Toolset.from_sources([read_invoice, delete_invoice], policies=[grants]) as toolset:
        ann = ask(toolset, Login("ann", ("accountant",)))
        bob = ask(toolset, Login("bob", ()))

    print("Ann, an accountant:", ann[-1])
    print("Bob:", bob[-1])
    assert ann[-1] == "invoice 7 deleted"
    assert "There is no tool named 'delete_invoice'" in bob[-1]


if __name__ == "__main__":
    main()
