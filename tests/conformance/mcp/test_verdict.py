"""What the suite's checks mean for us."""

import tomllib
from pathlib import Path

from tests.conformance.mcp.suite import Check
from tests.conformance.mcp.verdict import Expected, with_losses

GOOD, BAD, MEANT = Check("good", "SUCCESS"), Check("bad", "FAILURE"), Check("meant", "WARNING")


def test_a_failure_counts_unless_it_is_expected_by_name() -> None:
    expected = Expected({"ping:meant": "a reason"})
    verdict = expected.judge("ping", [GOOD, BAD, MEANT])
    assert (verdict.passed, verdict.expected, verdict.failed) == (1, 1, (BAD,))
    assert str(verdict) == "1 ok, 1 expected, 1 FAILED"


def test_a_whole_scenario_may_be_expected_to_fail() -> None:
    verdict = Expected({"ping": "a reason"}).judge("ping", [BAD, MEANT])
    assert (verdict.expected, verdict.failed) == (2, ())


def test_what_is_expected_of_one_scenario_excuses_no_other() -> None:
    assert Expected({"ping": "a reason", "ping:bad": "one"}).judge("pong", [BAD]).failed == (BAD,)


def test_what_is_neither_passed_nor_failed_counts_for_nothing() -> None:
    checks = [Check("one", "SKIPPED"), Check("two", "INFO")]
    assert str(Expected({}).judge("ping", checks)) == "0 ok"


def test_what_is_expected_and_does_not_fail_is_stale_where_it_was_looked_at() -> None:
    expected = Expected({"ping": "one", "ping:meant": "another", "pong": "not run"})
    expected.judge("ping", [GOOD])
    assert expected.stale("pi*") == ["ping", "ping:meant"]
    expected.judge("ping", [MEANT])
    assert expected.stale("ping") == []


def test_a_check_that_is_no_longer_made_is_lost() -> None:
    before = [GOOD, Check("gone", "SUCCESS", "said so"), Check("skipped", "SUCCESS"), MEANT]
    found = with_losses([GOOD, Check("skipped", "SKIPPED"), BAD], before)
    assert [check.name for check in found if check.status == "LOST"] == ["gone", "skipped"]
    assert len(Expected({}).judge("ping", found).failed) == 3


def test_every_expected_failure_has_a_reason() -> None:
    known = tomllib.loads(Path(__file__).with_name("expected.toml").read_text())
    reasons = [text for side in known.values() for keys in side.values() for text in keys.values()]
    assert reasons
    assert all(reason.endswith(".") for reason in reasons)
