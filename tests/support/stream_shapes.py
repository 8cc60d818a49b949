"""Which shapes of stream each dialect has, as data for the generator."""

from dataclasses import dataclass
from enum import Enum, auto


class Index(Enum):
    """What index the fragments of a call have."""

    EACH = auto()
    TEXT = auto()
    SPARSE = auto()
    NONE = auto()
    ZERO = auto()
    POSITION = auto()
    """That of the tool in the list of tools."""


class Given(Enum):
    """On which fragments of a call an id or a name is."""

    FIRST = auto()
    EVERY = auto()
    LAST = auto()
    NEVER = auto()
    RENEWED = auto()
    """Another one on every fragment."""
    NULL_TEXT = auto()
    """The text "null"."""
    SHARED = auto()
    """The same for all calls."""


class End(Enum):
    """What comes after a call's fragments."""

    NOTHING = auto()
    DONE = auto()
    WHOLE = auto()
    """Its arguments again, as such."""
    TEXT = auto()
    """Its arguments again, as a fragment."""


@dataclass(frozen=True, kw_only=True)
class Shape:
    """The choices that a wire has; the generator makes one of each for a stream."""

    index: tuple[Index, ...] = (Index.EACH,)
    ids: tuple[Given, ...] = (Given.FIRST,)
    names: tuple[Given, ...] = (Given.FIRST,)
    ends: tuple[End, ...] = (End.NOTHING,)
    announces: tuple[bool, ...] = (False,)
    whole: tuple[bool, ...] = (False,)
    """Whether each call comes as one fragment."""
    alternates: tuple[bool, ...] = (False,)
    """Whether fragments of several calls alternate."""


_CHAT = Shape(alternates=(False, True))
_BLOCKS = Shape(index=(Index.EACH, Index.SPARSE), ends=(End.DONE,))
SHAPES = {
    "openai_chat": (_CHAT,),
    "openai_responses": (
        Shape(index=(Index.SPARSE,), ends=(End.WHOLE, End.DONE), alternates=(False, True)),
    ),
    "anthropic": (_BLOCKS, Shape(index=(Index.SPARSE,), ends=(End.DONE,), announces=(True,))),
    "bedrock_converse": (_BLOCKS,),
    "gemini": (Shape(index=(Index.NONE,), ids=(Given.NEVER, Given.FIRST), whole=(True,)),),
    "ollama": (
        Shape(
            index=(Index.NONE, Index.ZERO, Index.EACH),
            ids=(Given.NEVER, Given.FIRST),
            whole=(True,),
        ),
    ),
    "mistral": (
        Shape(
            index=(Index.EACH, Index.ZERO, Index.NONE),
            ids=(Given.FIRST, Given.EVERY),
            whole=(True, False),
        ),
        Shape(index=(Index.EACH,), ids=(Given.NULL_TEXT,), whole=(True,)),
    ),
    "deepseek": (
        Shape(
            ids=(Given.FIRST, Given.EVERY),
            names=(Given.FIRST, Given.EVERY),
            alternates=(False, True),
        ),
    ),
    "vllm": (
        Shape(
            ids=(Given.FIRST, Given.RENEWED),
            ends=(End.NOTHING, End.TEXT),
            alternates=(False, True),
        ),
        Shape(ids=(Given.FIRST, Given.RENEWED), names=(Given.EVERY,)),
    ),
    "llama_cpp": (Shape(ids=(Given.FIRST, Given.LAST, Given.NEVER)),),
}
"""By dialect."""
SHAPES["unknown"] = (
    *(shape for shapes in SHAPES.values() for shape in shapes),
    Shape(
        index=tuple(Index),
        ids=tuple(Given),
        names=(Given.FIRST, Given.EVERY, Given.LAST),
        ends=tuple(End),
        announces=(False, True),
        whole=(False, True),
        alternates=(False, False, True),
    ),
)
