"""Three tools that together are the trifecta, and one that is of none of it."""

from dataclasses import dataclass, field
from typing import Any, Literal

from langchain_core.tools import StructuredTool

from deferred_tools import Settings

TAGS: dict[str, list[str]] = {
    "fetch_page": ["untrusted_input"],
    "read_vault": ["sensitive"],
    "post_note": ["egress"],
    "send_mail": ["egress"],
}


def settings(trifecta: Literal["refuse", "ask", "off"] = "refuse", **more: Any) -> Settings:
    """Settings that tag the tools."""
    return Settings.from_dict({"tags": TAGS, "trifecta": trifecta, **more})


@dataclass
class Guarded:
    """The tools, as plain functions or as LangChain's own; they note each run."""

    kind: Literal["function", "langchain"]
    ran: list[str] = field(default_factory=list)

    @property
    def all(self) -> list[Any]:
        """Every tool, without arguments."""
        return [self._tool(name) for name in (*TAGS, "add_up")]

    def _tool(self, name: str) -> Any:
        def run() -> str:
            self.ran.append(name)
            return f"{name} ran"

        run.__name__, run.__doc__ = name, f"The tool {name}."
        return StructuredTool.from_function(run) if self.kind == "langchain" else run
