"""Which tool may take a model's call, and what observers hear of it: for graphs and plain loops."""

from dataclasses import replace
from typing import Any

from langchain_core.messages import ToolCall, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool

from deferred_tools.approval import Approve, ask_nobody
from deferred_tools.dispatch import Admitted
from deferred_tools.errors import ConfigurationError
from deferred_tools.policy import Caller
from deferred_tools.registered import RegisteredTool
from deferred_tools.session import Session
from deferred_tools.toolset import Toolset
from langchain_deferred_tools.content import from_langchain
from langchain_deferred_tools.source import LangChainTool


def admit(
    toolset: Toolset, session: Session, call: ToolCall, approve: Approve = ask_nobody
) -> Admitted:
    """The enabled tool that is to take `call`, the arguments for it, and the session then.

    Raises:
        ModelError: There is none, or the arguments do not fit.
    """
    admitted = toolset.check(
        session, call["name"], call["args"], strict=_unchecked, approve=approve
    )
    # It counts as called since the host has approved it, if that was needed.
    exposed = toolset.called(admitted.session, [admitted.entry.spec.name]).exposed
    return replace(admitted, session=admitted.session.exposed_to(exposed))


def _unchecked(entry: RegisteredTool) -> bool:
    """Whether nobody else will see if arguments fit: LangChain does for tools of its own."""
    return not (isinstance(entry.tool, LangChainTool) and entry.tool.validates)


def arguments_for(admitted: Admitted, call: ToolCall) -> dict[str, Any]:
    """What the tool is to be run with; those of our own read texts, and tell of it, themselves."""
    langchain_s = isinstance(admitted.entry.tool, LangChainTool)
    return admitted.arguments if langchain_s else call["args"]


def tell_called(
    toolset: Toolset, caller: Caller, admitted: Admitted | None, answer: ToolMessage
) -> None:
    """Tell observers of a call, unless `Toolset.call` has told them, or the tool is not ours."""
    if admitted is not None and isinstance(admitted.entry.tool, LangChainTool):
        toolset.plugins.tell(
            "deferred_tools_called",
            caller=caller,
            name=admitted.entry.spec.name,
            result=replace(from_langchain(answer), notes=admitted.notes),
        )


def check_sync(tool: BaseTool, instead: str) -> None:
    """See that `tool` can run synchronously; where it cannot, `instead` is what to use.

    Raises:
        ConfigurationError: It is async only.
    """
    if isinstance(tool, StructuredTool) and tool.func is None:
        raise ConfigurationError(
            f"the tool {tool.name!r} is async only, and this run is not: use {instead}, give it "
            "a sync function too, or, if it comes from an MCP server, hand that server to "
            "`McpServers`, whose tools work in both"
        )
