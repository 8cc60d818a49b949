"""Over random streams of every dialect, each call is exact or explicitly invalid."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.bridge import (
    DIALECTS,
    ArgumentsDelta,
    Complete,
    Invalid,
    Named,
    Started,
    ToolCallAssembler,
)
from tests.support.stream_values import may_be_empty
from tests.support.streams import assemble, fault, random_stream

RANDOMS = st.randoms(use_true_random=False)


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
@given(random=RANDOMS)
def test_every_call_is_exact_or_explicitly_invalid(dialect: str, random: Random) -> None:
    stream = random_stream(random, dialect)
    assert fault(stream, assemble(stream)) is None


@given(random=RANDOMS, dialect=st.sampled_from(sorted(DIALECTS)))
def test_taken_for_an_unknown_wire_no_stream_is_misread(random: Random, dialect: str) -> None:
    stream = random_stream(random, dialect, read_as="unknown")
    assert fault(stream, assemble(stream)) is None


@given(random=RANDOMS, dialect=st.sampled_from(sorted(DIALECTS)))
def test_every_call_starts_once_and_ends_once(random: Random, dialect: str) -> None:
    stream = random_stream(random, dialect)
    calls = ToolCallAssembler(DIALECTS[dialect], may_be_empty=may_be_empty)
    events = [event for fragment in stream.fragments for event in calls.feed(fragment)]
    outcomes = calls.finish(stream.reason)
    started = [event.key for event in events if isinstance(event, Started)]
    assert len(set(started)) == len(started)
    assert sorted(started) == sorted(it.key for it in outcomes)
    assert len({it.id for it in outcomes}) == len(outcomes)
    names = {event.key: event.name for event in events if isinstance(event, Named)}
    assert {it.key: it.name for it in outcomes if it.name} == names


@given(random=RANDOMS, dialect=st.sampled_from(sorted(DIALECTS)))
def test_what_is_shown_of_arguments_is_where_their_text_begins(
    random: Random, dialect: str
) -> None:
    stream = random_stream(random, dialect)
    calls = ToolCallAssembler(DIALECTS[dialect], may_be_empty=may_be_empty)
    shown: dict[str, str] = {}
    for fragment in stream.fragments:
        for event in calls.feed(fragment):
            if isinstance(event, ArgumentsDelta):
                shown[event.key] = shown.get(event.key, "") + event.text
    for outcome in calls.finish(stream.reason):
        if isinstance(outcome, Invalid) and outcome.key in shown:
            assert outcome.raw.startswith(shown[outcome.key])
        elif isinstance(outcome, Complete) and outcome.key in shown:
            assert shown[outcome.key].strip()[-1:] in ("}", "l", "")
