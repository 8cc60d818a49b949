"""What a CEL expression refers to, and in which loops: its plan, read from its text.

Pure; knows no CEL library, whose parser says whether the text is CEL at all. That parser tells
neither the scopes of variables nor how loops are nested.
"""

import re
from collections.abc import Iterator, Set
from dataclasses import dataclass

_LOOPS = frozenset({"all", "exists", "exists_one", "existsOne", "filter", "map"})
_FUNCTIONS = frozenset(
    {
        *("bytes", "contains", "double", "duration", "dyn", "endsWith", "getDate", "getDayOfMonth"),
        *("getDayOfWeek", "getDayOfYear", "getFullYear", "getHours", "getMilliseconds"),
        *(
            "getMinutes",
            "getMonth",
            "getSeconds",
            "has",
            "hasValue",
            "int",
            "matches",
            "none",
            "of",
        ),
        *("ofNonZeroValue", "or", "orValue", "size", "startsWith", "string", "timestamp", "type"),
        *("uint", "value"),
    }
)
_CONSTANTS = frozenset(
    {
        *("bool", "bytes", "double", "false", "in", "int", "list", "map", "null", "null_type"),
        *("optional", "string", "true", "type", "uint"),
    }
)
_MAX_LENGTH = 4_000
# Twice as many were seen to end the process in a thread with a stack of 256 kB.
_MAX_TOKENS = 1_000
_MAX_BRACKETS = 24
_MAX_NESTED_LOOPS = 3
# A pattern is compiled anew at each match, which takes as long as so many other steps.
_PATTERN_STEPS = 1_500
CHARACTERS_PER_STEP = 64
"""Of a text, that weigh as much as a number does."""
_TOKEN = re.compile(
    r"(?P<skip>\s+|//[^\n]*)"
    r"|(?P<text>[bB]?[rR](?:\"{3}[\s\S]*?\"{3}|'{3}[\s\S]*?'{3}|\"[^\"\n]*\"|'[^'\n]*')"
    r"|[bB]?(?:\"{3}(?:\\[\s\S]|[^\\])*?\"{3}|'{3}(?:\\[\s\S]|[^\\])*?'{3}"
    r"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'))"
    r"|(?P<number>0[xX][0-9a-fA-F]+[uU]?|\d*\.?\d+(?:[eE][+-]?\d+)?[uU]?)"
    r"|(?P<name>[A-Za-z_]\w*)|(?P<mark>[\s\S])",
    re.ASCII,
)


class PlanError(ValueError):
    """An expression that is too large, or names what is not there; the message says which."""


@dataclass(frozen=True, slots=True)
class Plain:
    """A token that takes its time and may be part of a value."""

    steps: int = 1
    size: int = 1
    builds: bool = False
    """An object begins, whose keys are not those of the input."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A variable of the loop `level` (0: a variable of the host), and what is taken from it."""

    level: int
    path: tuple[str, ...]
    """Keys, and "" for an index such as `[0]`."""


@dataclass(frozen=True, slots=True)
class Group:
    """A parenthesis that is no call's begins or ends."""

    begins: bool


Over = Reference | str | None
"""A reference, the kind of loop that has just closed, "group" likewise, or None: anything else."""


@dataclass(frozen=True, slots=True)
class Open:
    """A loop begins."""

    over: Over


@dataclass(frozen=True, slots=True)
class Close:
    """The innermost loop ends."""

    kind: str


Part = Plain | Reference | Group | Open | Close
Plan = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str


_END = _Token("end", "")
_GROUP = "group"


def check_size(expression: str) -> None:
    """To be asked before the text is handed to a parser.

    Raises:
        PlanError: It is so long or so deep that a parser might exhaust the stack.
    """
    if len(expression) > _MAX_LENGTH:
        raise PlanError(f"it is longer than {_MAX_LENGTH} characters")
    depth = 0
    for at, token in enumerate(_tokens(expression)):
        if token.kind == "mark":
            depth += (token.text in "([{") - (token.text in ")]}")
        if at >= _MAX_TOKENS or depth > _MAX_BRACKETS:
            raise PlanError(f"more than {_MAX_TOKENS} tokens or {_MAX_BRACKETS} nested brackets")


def read_plan(expression: str, variables: Set[str]) -> Plan:
    """Read an expression that the CEL library has accepted.

    Raises:
        PlanError: It names a variable or function that is not there, nests loops too deeply, or
            takes a pattern from data.
    """
    return tuple(_Reader(expression, variables).parts())


class _Reader:
    """One pass over the tokens, with the brackets and loops that are open."""

    def __init__(self, expression: str, variables: Set[str]) -> None:
        self._tokens = [*_tokens(expression), _END, _END, _END]
        self._variables = variables
        self._at = 0
        self._brackets: list[str] = []  # the kind of the loop that each belongs to, or ""
        self._bound: list[str] = []

    def parts(self) -> Iterator[Part]:
        ended: Over = None  # by what came before this token
        while (token := self._tokens[self._at]) is not _END:
            self._at += 1
            part: Part = Plain(size=1 + len(token.text) // CHARACTERS_PER_STEP)
            if token.kind == "name":
                part = self._name(token.text, ended)
            elif token.kind == "mark":
                part = self._mark(token.text)
            yield part
            if isinstance(part, Reference):
                ended = part
            elif isinstance(part, Close):
                ended = part.kind
            elif isinstance(part, Group) and not part.begins:
                ended = _GROUP
            elif token.text != ".":
                ended = None

    def _mark(self, mark: str) -> Part:
        before = self._tokens[self._at - 2]
        value = before.kind in {"name", "text"} or before.text in {")", "]", "}"}
        if mark == "." and (not value or before.text == "in"):
            raise PlanError("nothing can begin, and no number end, with a dot")
        if mark in "([{":
            group = mark == "(" and before.kind != "name"
            self._brackets.append(_GROUP if group else "")
            return Group(begins=True) if group else Plain(builds=mark == "{")
        kind = self._brackets.pop() if mark in ")]}" else ""
        if kind == _GROUP:
            return Group(begins=False)
        if kind:
            self._bound.pop()
            return Close(kind)
        return Plain()

    def _name(self, name: str, ended: Over) -> Part:
        before, following = self._tokens[self._at - 2].text, self._tokens[self._at].text
        member = before == "."
        if following == "(":
            if member and name in _LOOPS and self._tokens[self._at + 2].text == ",":
                return self._open(name, ended)
            return self._function(name)
        if following == "{" and name != "in":
            raise PlanError(f"{name!r} is a message type; there are none")
        if member or (name in _CONSTANTS and name not in self._bound):
            return Plain()
        return self._reference(name)

    def _open(self, kind: str, over: Over) -> Open:
        if len(self._bound) == _MAX_NESTED_LOOPS:
            raise PlanError(f"loops are nested deeper than {_MAX_NESTED_LOOPS}")
        self._brackets.append(kind)
        self._bound.append(self._tokens[self._at + 1].text)
        self._at += 3
        return Open(over)

    def _function(self, name: str) -> Plain:
        if name not in _FUNCTIONS:
            raise PlanError(f"there is no function {name!r}")
        if name != "matches":
            return Plain()
        pattern, after = self._tokens[self._at + 1 : self._at + 3]
        if pattern.kind != "text" or after.text != ")":
            raise PlanError("the pattern of `matches` must be a text, not a value")
        return Plain(steps=_PATTERN_STEPS)

    def _reference(self, name: str) -> Reference:
        if name not in self._bound and name not in self._variables:
            known = ", ".join(sorted({*self._variables, *self._bound}))
            raise PlanError(f"there is no variable {name!r}, only {known}")
        level = max((at for at, bound in enumerate(self._bound, 1) if bound == name), default=0)
        path: list[str] = []
        while (step := self._step()) is not None:
            path.append(step)
        return Reference(level, tuple(path))

    def _step(self) -> str | None:
        """Read the `.key` or the `[0]` that is next, if one is; a call is none."""
        mark, inner, after = self._tokens[self._at : self._at + 3]
        if mark.text == "." and inner.kind == "name" and after.text != "(":
            self._at += 2
            return inner.text
        if mark.text == "[" and inner.kind in {"number", "text"} and after.text == "]":
            self._at += 3
            return ""
        return None


def _tokens(expression: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(expression):
        if match.lastgroup and match.lastgroup != "skip":
            yield _Token(match.lastgroup, match.group())
