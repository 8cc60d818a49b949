"""All rules together."""

from collections.abc import Collection, Sequence

from deferred_tools.lint.finding import Severity
from deferred_tools.lint.run import RULES, lint
from deferred_tools.retrievers.base import Hit
from deferred_tools.retrievers.bm25 import BM25Retriever
from deferred_tools.spec import ToolSpec

SPECS = (
    ToolSpec(source="s", tool="a.b", description="Bake bread " + "x" * 1_024),
    ToolSpec(source="s", tool="none"),
)


class NotToBeAsked:
    """A retriever that nobody needs."""

    def index(self, specs: Sequence[ToolSpec]) -> None:
        raise AssertionError

    def search(self, query: str, k: int, within: Collection[str] | None = None) -> list[Hit]:
        raise AssertionError


def test_every_rule_has_a_code_of_its_own() -> None:
    assert len({rule.code for rule in RULES}) == len(RULES)


def test_errors_come_first() -> None:
    found = lint(SPECS, BM25Retriever())
    codes = [finding.rule.code for finding in found]
    assert codes == ["no-description", "refused-name", "long-description"]
    assert [rule.severity for rule in RULES] == sorted(rule.severity for rule in RULES)
    assert found[0].rule.severity is Severity.ERROR


def test_what_is_not_asked_for_is_neither_found_nor_computed() -> None:
    rules = [rule for rule in RULES if rule.code == "long-description"]
    found = lint(SPECS, NotToBeAsked(), rules)
    assert [finding.rule.code for finding in found] == ["long-description"]


def test_no_tools_have_no_findings() -> None:
    assert lint((), BM25Retriever()) == []
