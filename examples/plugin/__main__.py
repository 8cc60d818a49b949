"""A plugin: one object that adds what people call a tool, and keeps an audit trail."""

from collections.abc import Iterable

from deferred_tools import Caller, Session, ToolResult, Toolset, ToolSpec, hookimpl


def create_ticket(title: str) -> str:
    """Create a ticket in the tracker."""
    return f"ticket: {title}"


class Audit:
    """Hooks are ordinary methods; leave out what you do not need."""

    def __init__(self) -> None:
        """Start with an empty trail."""
        self.trail: list[str] = []

    @hookimpl
    def deferred_tools_aliases(self, spec: ToolSpec) -> Iterable[str]:
        """Registers the words that our people use."""
        return ["jira", "bug report"] if spec.tool == "create_ticket" else []

    @hookimpl
    def deferred_tools_called(self, caller: Caller, name: str, result: ToolResult) -> None:
        """Observes calls that ran."""
        self.trail.append(f"{caller.kind.value} called {name}: {result.text}")


def main() -> None:
    """Run the story and check it."""
    audit = Audit()
    with Toolset.from_sources([create_ticket], plugins=[audit]) as toolset:
        outcome = toolset.search(Session(caller=Caller.root()), {"query": "file a jira"})
        toolset.call(outcome.session, "create_ticket", {"title": "The door squeaks"})

    print(outcome.text)
    print(audit.trail)
    assert [tool.name for tool in outcome.enabled] == ["create_ticket"]
    assert audit.trail == ["root called create_ticket: ticket: The door squeaks"]


if __name__ == "__main__":
    main()
