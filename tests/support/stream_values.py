"""Random arguments of tool calls, and random ways to write and cut them."""

import json
from dataclasses import dataclass
from random import Random
from typing import Any

TOOLS = ("need_one", "need_two", "takes_any", "takes_none")
"""`need_` tools require arguments, the others do not."""
TEXTS = (
    "",
    "plain",
    'say "hi"',
    "back\\slash",
    "{not: [json",
    "]}",
    "tab\tand\nline",
    "čeština",
    "日本語",
    "👩‍🚀 up",
    "\u0000",
    "null",
    '{"x":1}',
)
NUMBERS = (0, -1, 7, 10**18, 0.1, -2.5e-10, 1e300)


def may_be_empty(name: str) -> bool:
    """What an assembler is to be told of these tools."""
    return not name.startswith("need_")


@dataclass(frozen=True)
class Sent:
    """A call as the model meant it."""

    name: str
    arguments: dict[str, Any]
    text: str
    """How its arguments are written."""


def random_call(random: Random, serial: int) -> Sent:
    """A call; with arguments it is like no other, as `serial` is in them."""
    name = random.choice(TOOLS)
    if name == "takes_none" or (name == "takes_any" and random.random() < 0.5):
        return Sent(name, {}, random.choice(("", "", "{}", "null", " ", " {} ")))
    arguments = {"serial": serial, **_object(random, 2)}
    return Sent(name, arguments, _written(random, arguments))


def pieces(random: Random, text: str) -> list[str]:
    """`text`, cut anywhere."""
    if random.random() < 0.1:
        return [*text]
    cuts = sorted(random.randrange(len(text) + 1) for _ in range(random.randrange(6)))
    ends = [*cuts, len(text)]
    return [text[start:end] for start, end in zip([0, *cuts], ends, strict=True)]


def byte_pieces(random: Random, text: str) -> list[bytes]:
    """The same as bytes, cut within characters too."""
    return [piece.encode("latin-1") for piece in pieces(random, text.encode().decode("latin-1"))]


def _written(random: Random, arguments: dict[str, Any]) -> str:
    text = json.dumps(
        arguments,
        ensure_ascii=random.random() < 0.5,
        indent=random.choice((None, None, 1)),
        separators=random.choice((None, (",", ":"))),
    )
    return random.choice(("", "", "\n ")) + text + random.choice(("", "", " \r\n"))


def _object(random: Random, depth: int) -> dict[str, Any]:
    return {random.choice(TEXTS): _value(random, depth) for _ in range(random.randrange(3))}


def _value(random: Random, depth: int) -> Any:
    kind = random.randrange(6 if depth else 4)
    if kind == 0:
        return random.choice(TEXTS)
    if kind == 1:
        return random.choice(NUMBERS)
    if kind in (2, 3):
        return random.choice((True, False, None))
    if kind == 4:
        return [_value(random, depth - 1) for _ in range(random.randrange(3))]
    return _object(random, depth - 1)
