"""Tool definitions to measure with: those of real servers where they are at hand, else made up.

Standard library only: it also runs in the environments of peers that cannot share ours.
"""

import gzip
import json
import os
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ANSWER = "ok"
"""What every tool answers."""
SIZE = 5_549
"""Tools in the corpus, and made up where there is none."""
_VERBS = ("create", "list", "get", "update", "delete", "search", "export", "merge")
_NOUNS = ("issue", "invoice", "branch", "calendar_event", "ticket", "message", "file", "order")


@dataclass(frozen=True, slots=True)
class Definition:
    """One tool as a server's `tools/list` gives it."""

    server: str
    raw: dict[str, Any]


def corpus() -> list[Definition]:
    """The tools of real servers, in order; empty where the shared folder is absent."""
    default = Path(__file__).parents[2].parent / "shared"
    path = Path(os.environ.get("DEFERRED_TOOLS_SHARED", default)) / "corpus/mcp_tools.jsonl.gz"
    if not path.is_file():
        return []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [Definition(raw.pop("server"), raw) for raw in map(json.loads, lines)]


def generated(count: int = SIZE) -> list[Definition]:
    """Tools of about the corpus's median size, the same in every run."""
    dice = random.Random(0)  # noqa: S311  # nothing secret
    return [_made_up(number, dice) for number in range(count)]


def take(pool: Sequence[Definition], count: int) -> list[Definition]:
    """`count` of `pool`, evenly spread; more than it has repeats it under other servers' names."""
    if count <= len(pool):
        return [pool[at * len(pool) // count] for at in range(count)]
    return [
        Definition(f"{one.server}-{round_}" if round_ else one.server, one.raw)
        for round_, one in ((at // len(pool), pool[at % len(pool)]) for at in range(count))
    ]


def names(definitions: Sequence[Definition]) -> list[str]:
    """A name that every provider accepts for each, no two the same."""
    found: dict[str, None] = {}
    for number, one in enumerate(definitions):
        name = re.sub(r"[^a-zA-Z0-9_-]", "_", f"{one.server}__{one.raw['name']}")[:64]
        found[name if name not in found else f"{name[:57]}_{number}"] = None
    return list(found)


def _made_up(number: int, dice: random.Random) -> Definition:
    verb, noun = dice.choice(_VERBS), dice.choice(_NOUNS)
    properties = {
        f"{dice.choice(_NOUNS)}_{at}": {
            "type": dice.choice(["string", "integer", "boolean"]),
            "description": f"The {noun} to {verb}, as the service knows it.",
        }
        for at in range(dice.randint(1, 8))
    }
    raw = {
        "name": f"{verb}_{noun}_{number}",
        "description": f"{verb.title()} one {noun} of the account, by its number or its name.",
        "inputSchema": {
            "type": "object",
            "properties": properties,
            "required": list(properties)[:1],
        },
    }
    return Definition(f"server-{number // 40}", raw)
