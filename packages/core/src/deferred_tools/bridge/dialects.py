"""How wires stream tool calls, as data. Knows nothing of any client library.

Each row is what a provider's stream was seen to do; `UNKNOWN` is for everything else.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from types import MappingProxyType


class Means(Enum):
    """What a fragment at a place where there is a call already is part of."""

    SAME_CALL = auto()
    NEW_CALL = auto()
    CONFLICT = auto()
    """It cannot be told: the call there is invalid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What ids, names and indexes mean on one wire."""

    name: str
    by_index: bool = True
    """Whether an index stands for one call in the whole message, and calls are in its order.

    Otherwise it may be given again, stand still or be missing, and calls are in order of arrival.
    A fragment without index is taken as on an unknown wire all the same."""
    whole: bool = False
    """Whether each fragment is a whole call. Only a known id makes it a repetition."""
    another_id: Means = Means.CONFLICT
    """A second id where there is one. With `NEW_CALL` it needs a name with it, or arguments that
    have ended before it; else it is a conflict."""
    another_name: Means = Means.CONFLICT
    """A second name where there is one, without the id of the first."""
    name_again: Means = Means.SAME_CALL
    """The same name after the arguments have ended, on a wire without ids."""
    careful: bool = False
    """Whether calls are invalid that may be two, or may have each other's arguments. Otherwise a
    call ends where the next begins."""
    missing_ids: frozenset[str] = frozenset()
    """Texts that stand for no id."""


OPENAI_CHAT = Dialect(name="openai_chat")
"""Chat completions: id and name come first, then arguments by index."""
OPENAI_RESPONSES = Dialect(name="openai_responses")
"""Responses: by `output_index`; `call_id` is the id; arguments are stated again at the end."""
ANTHROPIC = Dialect(name="anthropic")
"""Content blocks: `input` is announced empty, partial JSON follows, then a stop for each block."""
BEDROCK_CONVERSE = Dialect(name="bedrock_converse")
"""Converse streams: content blocks by `contentBlockIndex`."""
GEMINI = Dialect(name="gemini", by_index=False, whole=True)
"""Whole `functionCall` parts, mostly without ids and always without index."""
MISTRAL = Dialect(
    name="mistral",
    by_index=False,
    another_id=Means.NEW_CALL,
    another_name=Means.NEW_CALL,
    name_again=Means.NEW_CALL,
    missing_ids=frozenset({"null"}),
)
"""Mostly whole calls; the index may stand at 0, and the id may be the text "null"."""
DEEPSEEK = Dialect(name="deepseek")
"""As chat completions; ids and names may be repeated, or empty instead of missing."""
OLLAMA = Dialect(name="ollama", by_index=False, whole=True)
"""Whole calls without ids; the index is missing, or is the same for all."""
VLLM = Dialect(name="vllm", another_id=Means.SAME_CALL)
"""As chat completions; each fragment may bring a new id, and the last may state all again."""
LLAMA_CPP = Dialect(name="llama_cpp")
"""As chat completions; ids may be empty, or come late."""
UNKNOWN = Dialect(
    name="unknown",
    by_index=False,
    another_id=Means.NEW_CALL,
    another_name=Means.NEW_CALL,
    name_again=Means.NEW_CALL,
    careful=True,
    missing_ids=frozenset({"null", "None"}),
)
"""Any wire: where fragments may be of one call or another, all of these calls are invalid."""

_ALL = (
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    ANTHROPIC,
    BEDROCK_CONVERSE,
    GEMINI,
    MISTRAL,
    DEEPSEEK,
    OLLAMA,
    VLLM,
    LLAMA_CPP,
    UNKNOWN,
)
DIALECTS: Mapping[str, Dialect] = MappingProxyType({dialect.name: dialect for dialect in _ALL})
"""All of them, by name."""


def dialect_of(kind: type, packages: Mapping[str, str]) -> Dialect | None:
    """The dialect that a client's class speaks, by the package that it, or a base of it, is of.

    `packages` has names of dialects by names of packages.
    """
    for base in kind.__mro__:
        for package, name in packages.items():
            if f"{base.__module__}.".startswith(f"{package}."):
                return DIALECTS[name]
    return None
