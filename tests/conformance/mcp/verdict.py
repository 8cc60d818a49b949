"""What the suite's checks mean for us. Pure: checks and what is expected in, a verdict out."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from tests.conformance.mcp.suite import Check

_BAD = frozenset({"FAILURE", "WARNING", "LOST"})


@dataclass(frozen=True, slots=True)
class Verdict:
    """One scenario, at one revision of the protocol."""

    passed: int = 0
    expected: int = 0
    """Failures that are known."""
    failed: tuple[Check, ...] = ()

    def __str__(self) -> str:
        told = [f"{self.passed} ok"]
        if self.expected:
            told.append(f"{self.expected} expected")
        if self.failed:
            told.append(f"{len(self.failed)} FAILED")
        return ", ".join(told)


@dataclass(slots=True)
class Expected:
    """Failures that are known: `scenario` or `scenario:check`, each with its reason."""

    reasons: Mapping[str, str]
    came_true: set[str] = field(default_factory=set)

    def judge(self, scenario: str, checks: Iterable[Check]) -> Verdict:
        """Tell the failures that are expected from those that are not."""
        passed, expected, failed = 0, 0, list[Check]()
        for check in checks:
            if check.status == "SUCCESS":
                passed += 1
            elif check.status in _BAD:
                known = self.reasons.keys() & {scenario, f"{scenario}:{check.name}"}
                self.came_true |= known
                expected += bool(known)
                failed += [] if known else [check]
        return Verdict(passed, expected, tuple(failed))

    def stale(self, only: str) -> list[str]:
        """What was expected of the scenarios that fit a pattern and has not come true."""
        unmet = self.reasons.keys() - self.came_true
        return sorted(key for key in unmet if fnmatchcase(key.split(":")[0], only))


def with_losses(checks: Iterable[Check], before: Iterable[Check]) -> list[Check]:
    """Checks, and one more for each that passed `before` and was not even made this time."""
    found = list(checks)
    passed = {check.name for check in found if check.status == "SUCCESS"}
    known = {check.name for check in found if check.status in _BAD}
    lost = [
        Check(check.name, "LOST", f"passed without the gateway: {check.told}")
        for check in before
        if check.status == "SUCCESS" and check.name not in passed | known
    ]
    return found + lost
