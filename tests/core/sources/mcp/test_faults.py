"""Whatever a server does has its own bounded outcome, and costs nobody else anything."""

import logging
from pathlib import Path
from typing import Any

import pytest

from tests.support.endurance import CANARY, endure_together
from tests.support.faults import Fault, groups

pytestmark = [pytest.mark.anyio, pytest.mark.thorough]


@pytest.mark.parametrize("cases", groups(), ids=lambda cases: f"{cases[0][0]} to {cases[-1][0]}")
async def test_a_fault_has_its_own_bounded_outcome_and_costs_nobody_else(
    cases: list[tuple[Fault, str]], start: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    await endure_together(cases, start, tmp_path)
    assert CANARY not in caplog.text
