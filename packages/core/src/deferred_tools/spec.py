"""What a tool says of itself, and the names it goes by. Pure values; no I/O, no framework.

A tool has a *qualified id* (`<source>__<tool>`), unique in a registry, and a *name* that
models see. The original name, description and schemas are kept verbatim: only views change.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any

from pydantic import Field

SEPARATOR = "__"
_UNSAFE = re.compile(r"[^a-zA-Z0-9_-]")
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Shown as nothing though Unicode counts them as letters or marks; text can be hidden in them.
_BLANK = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_EMPTY_SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}


Pattern = Annotated[str, Field(pattern=r"^[^*]+\*?$|^\*$")]
"""Which names are meant: `exact`, `prefix*` or `*`."""


class ToolTag(StrEnum):
    """What a tool can do to a conversation's safety (the trifecta)."""

    UNTRUSTED_INPUT = "untrusted_input"
    SENSITIVE = "sensitive"
    EGRESS = "egress"


class Tier(StrEnum):
    """Who stands behind a tool, the strongest first: its name goes to the stronger one."""

    CONTRACT = "contract"
    """Defined by the host, whatever runs it."""
    CODE = "code"
    MCP = "mcp"


@dataclass(frozen=True, slots=True)
class ToolSummary:
    """Level 1: what a tool is called and, in one line, what it is for."""

    name: str
    description: str
    source: str = ""


@dataclass(frozen=True, kw_only=True)
class ToolSpec:
    """Level 2: everything a tool says of itself."""

    source: str
    """Namespace of the source: a server's key, or `functions`."""
    tool: str
    """The tool's own name, exactly as its source gave it."""
    description: str = ""
    title: str = ""
    input_schema: Mapping[str, Any] | None = None
    """JSON Schema of the arguments, exactly as given."""
    output_schema: Mapping[str, Any] | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)
    """MCP annotations: hints of the source about itself, never proof."""
    meta: Mapping[str, Any] = field(default_factory=dict)
    tags: frozenset[ToolTag] = frozenset()
    aliases: tuple[str, ...] = ()
    """Other words that people use for this tool; searched, never called."""
    tier: Tier = Tier.CODE
    name: str = ""
    """The name models see. Set by the registry; until then the qualified id."""

    def __post_init__(self) -> None:
        if not self.name:
            object.__setattr__(self, "name", self.id)

    @property
    def id(self) -> str:
        """The qualified id, `<source>__<tool>`."""
        return f"{self.source}{SEPARATOR}{self.tool}"

    @cached_property
    def parameters(self) -> Mapping[str, Any]:
        """The input schema as models and validators want it: an object with properties."""
        schema = self.input_schema
        if not schema:
            return _EMPTY_SCHEMA
        view = dict(schema)
        view.setdefault("type", "object")
        if view["type"] == "object":
            view.setdefault("properties", {})
        return view

    @cached_property
    def digest(self) -> str:
        """16 hex digits that change when anything a model or a caller relies on changes.

        Order of keys and white space in the source's JSON make no difference.
        """
        told = [
            self.id,
            self.title,
            self.description,
            self.input_schema,
            self.output_schema,
            self.annotations,
            sorted(self.tags),
        ]
        text = json.dumps(told, sort_keys=True, ensure_ascii=False, default=str)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def one_line(text: str, length: int) -> str:
    """`text` on one line, without control or invisible characters, cut at `length`.

    The whole text is folded and cut at a word, with an ellipsis where something was left out.
    """
    # No more can be shown, so a text of megabytes costs no more than this.
    head = text[: 8 * length]
    folded = " ".join(_BLANK.sub("", head).split())
    if not folded.isprintable():
        seen = (c for c in folded if unicodedata.category(c) not in _INVISIBLE)
        folded = " ".join("".join(seen).split())
    if len(folded) <= length and len(text) == len(head):
        return folded
    cut = folded[: length - 1]
    at_word = cut.rsplit(" ", 1)[0]
    return (at_word if len(at_word) > length // 2 else cut).rstrip(" ,;:.-") + "…"


def safe_name(text: str) -> str:
    """`text` with every character that providers refuse replaced by `_`; may be empty."""
    return _UNSAFE.sub("_", text)


def namespace(source: str) -> str:
    """A source's namespace: safe, without `__` inside or `_` at its ends.

    So the first `__` of a qualified id always ends the namespace, and two sources cannot
    meet in one id.
    """
    return re.sub(r"__+", "_", safe_name(source)).strip("_")


def suffixed(candidate: str, qualified_id: str, length: int) -> str:
    """`candidate` cut to `length` with 8 hex digits of the id's hash: stable for ever."""
    mark = hashlib.sha256(qualified_id.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{candidate[: length - 9]}_{mark}"
