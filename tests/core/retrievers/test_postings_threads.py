"""Postings beside a writer: every answer is that of a state that there was."""

import random
import sys
import threading
from itertools import pairwise

from tests.core.retrievers.slow_postings import Make, best, catalogue, every_engine, filled


@every_engine
def test_readers_beside_a_writer_see_the_state_before_or_after_each_change(
    make: Make,
) -> None:
    documents = catalogue(100, most=2)
    states = [dict(documents)]
    dice = random.Random(3)  # noqa: S311  # nothing secret
    for step in range(60):
        state = dict(states[-1])
        match step % 3:
            case 0:
                state[100 + step] = catalogue(1, most=2, seed=step)[0]
            case 1:
                del state[dice.choice(list(state))]
            case _:  # in place of one that is there
                state[dice.choice(list(state))] = catalogue(1, most=2, seed=step)[0]
        states.append(state)
    # Nearly every document has a score, so that an answer shows the whole catalogue.
    terms = {f"t{number}": number for number in range(1, 20)}
    right = {tuple(best(state, terms, 1_000)) for state in states}
    postings = filled(make, documents)
    done = threading.Event()
    seen: list[set[tuple[tuple[int, int], ...]]] = [set() for _ in range(4)]
    torn: list[int] = []

    def read(mine: set[tuple[tuple[int, int], ...]]) -> None:
        last = False
        while not last:
            last = done.is_set()
            mine.add(tuple(postings.best(terms, 1_000)))
            with postings.lock:
                found = len(postings.best({"t1": 1}, 1_000))
                if found != postings.holders("t1"):
                    torn.append(found)

    readers = [threading.Thread(target=read, args=(mine,)) for mine in seen]
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # threads take turns in the middle of everything
    try:
        for reader in readers:
            reader.start()
        for before, after in pairwise(states):
            for number in before.keys() - after.keys():
                postings.remove(number)
            for number, weights in after.items():
                if before.get(number) is not weights:
                    postings.add(number, weights)
        done.set()
        for reader in readers:
            reader.join(timeout=30)
    finally:
        done.set()
        sys.setswitchinterval(usual)
    assert not any(reader.is_alive() for reader in readers)
    assert set().union(*seen) <= right
    assert all(seen)
    assert not torn
    assert postings.best(terms, 1_000) == best(states[-1], terms, 1_000)
