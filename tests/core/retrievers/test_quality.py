"""The quality that was measured stays. `benchmarks/search_quality.py` prints the figures."""

import pytest
from benchmarks.search_quality import SETS, Quality, load, mean, measure

from deferred_tools.retrievers.builtin import builtin
from tests.support.shared import shared_folder


@pytest.fixture(scope="module")
def quality() -> Quality:
    folder = shared_folder()
    found = []
    for name in SETS:
        tools, queries = load(folder, name)
        retriever = builtin("bm25")()
        retriever.index(tools)
        found.append(measure(retriever, queries))
    return mean(found)


def test_the_default_ranks_requests_of_public_sets_as_well_as_it_did(quality: Quality) -> None:
    # Measured: nDCG@10 64.0, recall@1 40.4, recall@5 68.7, complete@10 68.5.
    assert quality.ndcg_10 > 63.4
    assert quality.recall_1 > 39.6
    assert quality.recall_5 > 67.9
    assert quality.complete_10 > 67.6
