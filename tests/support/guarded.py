"""Three tools that together are the trifecta, and one that is of none of it."""

from dataclasses import dataclass
from typing import Any, Literal

from deferred_tools import Settings
from tests.support.tools import NotingTools

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
    """The tools, of the kind that `tools` makes; they note each run."""

    tools: NotingTools

    @property
    def all(self) -> list[Any]:
        """Every tool, without arguments."""
        return [self.tools.named(name) for name in (*TAGS, "add_up")]

    @property
    def ran(self) -> list[str]:
        """The names of those that ran, in their order."""
        return self.tools.ran
