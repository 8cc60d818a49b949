"""Random streams of tool calls over all dialects, with what the model meant by each."""

import codecs
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from hypothesis import reject

from deferred_tools.bridge import (
    DIALECTS,
    Complete,
    Fragment,
    Invalid,
    MintedIds,
    Outcome,
    ToolCallAssembler,
)
from tests.support.stream_shapes import SHAPES, End, Given, Index, Shape
from tests.support.stream_values import (
    TOOLS,
    Sent,
    byte_pieces,
    may_be_empty,
    pieces,
    random_call,
)

FINISHED = "tool_calls"
LIMIT = "length"


@dataclass(frozen=True)
class Stream:
    """Fragments on the wire, and the calls that they are of."""

    dialect: str
    fragments: Sequence[Fragment]
    reason: str | None
    sent: Sequence[Sent]
    """Those of which anything is on the wire, in its order."""
    last: Sent | None
    """The one that the last fragment is of."""
    is_whole: bool
    """Whether nothing is missing, and the end is said."""


def random_stream(random: Random, dialect: str, read_as: str | None = None) -> Stream:
    """A stream of one to four calls; a third of them are cut.

    With `read_as`, it is to be assembled by another dialect than it has.
    """
    shape = _chosen(random, random.choice(SHAPES[dialect]))
    if dialect == "unknown":
        shape = _possible(shape)
    calls = [random_call(random, serial) for serial in range(random.randrange(1, 5))]
    streams = [
        [(call, fragment) for fragment in _fragments(random, shape, call, number)]
        for number, call in enumerate(calls)
    ]
    wire = _merged(random, streams, alternate=shape.alternates[0])
    dialect = read_as or dialect
    if not DIALECTS[dialect].by_index:
        first = {id(call): call for call, fragment in wire if _says(fragment)}
        calls = [*first.values(), *(call for call in calls if id(call) not in first)]
    if random.random() < 2 / 3:
        return _stream(dialect, wire, FINISHED, calls, is_whole=True)
    wire = wire[: random.randrange(len(wire) + 1)]
    reason = random.choice((FINISHED, LIMIT, None))
    begun = [call for call in calls if any(it is call for it, part in wire if _says(part))]
    if reason == FINISHED and any(_looks_empty(call, wire) for call in begun):
        reason = None  # nobody could tell such a lie
    return _stream(dialect, wire, reason, begun, is_whole=False)


def assemble(stream: Stream) -> list[Outcome]:
    """What becomes of the calls."""
    assembler = ToolCallAssembler(
        DIALECTS[stream.dialect], may_be_empty=may_be_empty, minted=MintedIds("test")
    )
    for fragment in stream.fragments:
        assembler.feed(fragment)
    return assembler.finish(stream.reason)


def fault(stream: Stream, outcomes: Sequence[Outcome]) -> str | None:
    """What is wrong with `outcomes`; None if each call is exact or explicitly invalid."""
    complete = [_key(it.name, it.arguments) for it in outcomes if isinstance(it, Complete)]
    sent = [_key(it.name, it.arguments) for it in stream.sent]
    if Counter(complete) - Counter(sent):
        return "a call that was not sent"
    known = stream.dialect != "unknown"
    if (known or len(complete) == len(outcomes)) and not _is_subsequence(complete, sent):
        return "another order"
    if stream.reason == LIMIT and stream.last is not None:
        kept = [it for it in stream.sent if it is not stream.last]
        if Counter(complete) - Counter(_key(it.name, it.arguments) for it in kept):
            return "a call that was cut off"
    # On an unknown wire, calls that cannot be told apart may share one refusal.
    said = len(outcomes) if known else len(sent) * any(isinstance(it, Invalid) for it in outcomes)
    if len(complete) < len(sent) and said < len(sent):
        return "a call lost without a word"
    if stream.is_whole and known and (len(complete) < len(sent) or len(outcomes) > len(sent)):
        return "not exact, though the wire keeps to its dialect"
    return None


def _stream(
    dialect: str,
    wire: Sequence[tuple[Sent, Fragment]],
    reason: str | None,
    sent: Sequence[Sent],
    *,
    is_whole: bool,
) -> Stream:
    return Stream(
        dialect=dialect,
        fragments=[fragment for _, fragment in wire],
        reason=reason,
        sent=sent,
        last=wire[-1][0] if wire else None,
        is_whole=is_whole,
    )


def _chosen(random: Random, shape: Shape) -> Shape:
    return Shape(
        index=(random.choice(shape.index),),
        ids=(random.choice(shape.ids),),
        names=(random.choice(shape.names),),
        ends=(random.choice(shape.ends),),
        announces=(random.choice(shape.announces),),
        whole=(random.choice(shape.whole),),
        alternates=(random.choice(shape.alternates),),
    )


def _possible(shape: Shape) -> Shape:
    """`shape` without what nobody could tell from other calls."""
    by_index = shape.index[0] in (Index.EACH, Index.TEXT, Index.SPARSE)
    by_id = shape.ids[0] in (Given.FIRST, Given.EVERY)
    if shape.ids[0] in (Given.SHARED, Given.LAST) and not by_index:
        shape = replace(shape, ids=(Given.FIRST,))
    if shape.names[0] is Given.LAST and (shape.ids[0] is Given.SHARED or not by_index):
        shape = replace(shape, names=(Given.FIRST,))
    if shape.names[0] is Given.EVERY and not by_id:
        shape = replace(shape, ends=(End.NOTHING,))
    if not by_index and (shape.names[0] is Given.EVERY or shape.ids[0] is not Given.FIRST):
        shape = replace(shape, alternates=(False,))
    return shape


def _fragments(random: Random, shape: Shape, call: Sent, number: int) -> list[Fragment]:
    missing = random.choice((None, ""))
    bodies = _bodies(random, shape, call)
    made = [
        replace(
            body,
            index=_index(shape.index[0], call, number),
            id=_given(shape.ids[0], f"id-{number}", at, len(bodies)) or missing,
            name=_given(shape.names[0], call.name, at, len(bodies)) or missing,
        )
        for at, body in enumerate(bodies)
    ]
    if random.random() < 0.2:
        made.append(Fragment(index=made[0].index))
    return made


def _bodies(random: Random, shape: Shape, call: Sent) -> list[Fragment]:
    """The fragments without index, id and name."""
    if shape.whole[0]:
        as_object = random.random() < 0.5
        return [
            Fragment(whole=call.arguments) if as_object else Fragment(arguments=call.text or "{}")
        ]
    cut = random.choice((pieces, byte_pieces))(random, call.text)
    header = Fragment(arguments="", whole={}) if shape.announces[0] else Fragment(arguments="")
    bare = cut and not shape.announces[0] and random.random() < 0.3
    bodies = [*([] if bare else [header]), *(Fragment(arguments=piece) for piece in cut)]
    end = shape.ends[0]
    if end is End.DONE:
        bodies.append(Fragment(done=True))
    elif end is End.WHOLE:
        bodies.append(Fragment(whole=call.text, done=True))
    elif end is End.TEXT and call.text.strip() not in ("", "null"):
        bodies.append(Fragment(arguments=call.text))
    return bodies


def _index(kind: Index, call: Sent, number: int) -> int | str | None:
    indexes: dict[Index, int | str | None] = {
        Index.EACH: number,
        Index.TEXT: str(number),
        Index.SPARSE: 1 + 2 * number,
        Index.NONE: None,
        Index.ZERO: 0,
        Index.POSITION: TOOLS.index(call.name),
    }
    return indexes[kind]


def _given(kind: Given, value: str, at: int, count: int) -> str | None:
    shown = {
        Given.FIRST: at == 0,
        Given.LAST: at == count - 1,
        Given.NEVER: False,
    }
    if not shown.get(kind, True):
        return None
    special = {Given.RENEWED: f"{value}-{at}", Given.NULL_TEXT: "null", Given.SHARED: "id"}
    return special.get(kind, value)


def _merged(
    random: Random, streams: Sequence[list[tuple[Sent, Fragment]]], *, alternate: bool
) -> list[tuple[Sent, Fragment]]:
    if not alternate:
        return [it for stream in streams for it in stream]
    left = [list(reversed(stream)) for stream in streams]
    merged = []
    while left := [stream for stream in left if stream]:
        merged.append(random.choice(left).pop())
    return merged


def _says(fragment: Fragment) -> bool:
    """Whether anybody could know of a call by it."""
    return fragment.id not in (None, "", "null") or bool(fragment.name) or fragment.brings_arguments


def _looks_empty(call: Sent, wire: Iterable[tuple[Sent, Fragment]]) -> bool:
    """Whether a call with arguments looks like one that has none, and may."""
    came = any(fragment.brings_arguments for it, fragment in wire if it is call)
    return bool(call.arguments) and may_be_empty(call.name) and not came


def _key(name: str, arguments: object) -> str:
    return name + json.dumps(arguments, sort_keys=True)


def _is_subsequence(some: Sequence[str], all_: Sequence[str]) -> bool:
    left = iter(all_)
    return all(it in left for it in some)


def in_text(stream: Stream) -> Iterator[tuple[str | None, Fragment]]:
    """The fragments, with the arguments in each as text: for wires that carry nothing else.

    What a provider says again at the end is left out; a stream that such a wire cannot carry
    ends hypothesis's example.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    for fragment in stream.fragments:
        try:
            yield _text_of(fragment, decoder), fragment
        except UnicodeDecodeError:  # halves of characters of two calls
            reject()


def _text_of(fragment: Fragment, decoder: codecs.IncrementalDecoder) -> str | None:
    if isinstance(fragment.arguments, bytes):
        return decoder.decode(fragment.arguments)
    if fragment.arguments is not None or fragment.whole is None or fragment.done:
        return fragment.arguments
    whole = fragment.whole
    return whole if isinstance(whole, str) else json.dumps(dict(whole))
