"""The quality that was measured stays. `benchmarks/search_quality.py` prints the figures."""

import pytest
from benchmarks.support.quality_sets import SETS, load

from deferred_tools.evaluation.metrics import Scores
from deferred_tools.evaluation.run import evaluate
from deferred_tools.retrievers.builtin import builtin
from tests.support.shared import shared_folder

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def scores() -> Scores:
    folder = shared_folder()
    return Scores.mean(
        [evaluate("bm25", builtin("bm25")(), *load(folder, name, 100)).scores for name in SETS]
    )


def test_the_default_ranks_requests_of_public_sets_as_well_as_it_did(scores: Scores) -> None:
    # Measured: nDCG@10 71.2, recall@1 41.4, recall@5 75.3, complete@10 75.5 percent.
    assert scores.ndcg_10 > 0.705
    assert scores.recall_1 > 0.405
    assert scores.recall_5 > 0.745
    assert scores.complete_10 > 0.745
