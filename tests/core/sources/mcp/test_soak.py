"""The faults again and again, in any mixture: `pytest -m soak`.

`DEFERRED_TOOLS_SOAK_MINUTES` says for how long (1), `DEFERRED_TOOLS_SOAK_SEED` repeats a run.
"""

import logging
import os
import random
import secrets
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.endurance import CANARY, endure_together
from tests.support.faults import CASES

MINUTES = float(os.environ.get("DEFERRED_TOOLS_SOAK_MINUTES", "1"))
SEED = os.environ.get("DEFERRED_TOOLS_SOAK_SEED", "")
TOGETHER = 6


@pytest.mark.soak
@pytest.mark.anyio
@pytest.mark.timeout(60 * MINUTES + 120)
async def test_any_mixture_of_faults_keeps_every_promise(
    start: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    seed = SEED or str(secrets.randbits(32))
    chance = random.Random(seed)  # noqa: S311 -- to be repeated by its seed
    until = time.monotonic() + 60 * MINUTES
    number = 0
    while time.monotonic() < until:
        folder = tmp_path / str(number)
        folder.mkdir()
        cases = chance.sample(CASES, TOGETHER)
        try:
            await endure_together(cases, start, folder, seed=chance.randrange(2**32))
            assert CANARY not in caplog.text
        except BaseException as error:
            error.add_note(f"round {number} of seed {seed!r}: {[f'{f} {w}' for f, w in cases]}")
            raise
        caplog.clear()
        number += 1
