"""What is wrong with a document, in words that people can act on. Pure.

Never quotes a value, which may be a secret; only keys, and what a key may hold.
"""

import difflib
from collections.abc import Iterator, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from deferred_tools.documents.origin import KeyPath, Origin, Problem

Model = TypeVar("Model", bound=BaseModel)

_EXPECTED = {
    "bool_type": "true or false",
    "dict_type": "an object",
    "float_type": "a number",
    "list_type": "an array",
    "model_type": "an object",
    "path_type": "a string",
    "string_type": "a string",
    "tuple_type": "an array",
}
_ACTUAL: dict[type, str] = {
    str: "a string",
    list: "an array",
    tuple: "an array",
    dict: "an object",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    NoneType: "null",
}
_TOLD = {
    "invalid_key": "its key must be a string",
    # The only texts with a pattern are names of tools.
    "string_pattern_mismatch": "must be a name, 'prefix*' or '*'",
    "string_too_short": "must not be empty",
    "string_unicode": "holds half a character; remove it",
}
_KEY = "[key]"  # where pydantic says that a key itself is wrong


def validated(model: type[Model], document: object, origin: Origin) -> Model:
    """A `model` of what `document` holds.

    Raises:
        ConfigurationError: It does not fit, or a key is written twice; names every problem.
    """
    try:
        value = model.model_validate(document)
    except ValidationError as error:
        raise origin.error(problems_of(error, model, document)) from None
    if origin.repeated:
        raise origin.error()
    return value


def problems_of(
    error: ValidationError,
    model: type[BaseModel],
    document: object,
    instead: Mapping[str, str] | None = None,
) -> Iterator[Problem]:
    """Each finding about `document`, which is no `model`, with its place.

    `instead` maps keys that people know from elsewhere to those that mean the same here.
    """
    for found in error.errors(include_url=False):
        loc, kind = found["loc"], found["type"]
        path = _path(loc, document)
        if kind == "extra_forbidden":
            known = _fields(model, loc[:-1])
            yield path, _unknown_key(str(loc[-1]), known, instead or {})
        elif kind == "missing":
            yield (*path, loc[-1]), "is required; add it"
        else:
            yield path, f"its key {_text(found)}" if loc[-1:] == (_KEY,) else _text(found)


def nearest_key(key: str, known: Mapping[str, object]) -> str:
    """What to say of a key that is a typo of a known one; "" if it is of none."""
    found = difflib.get_close_matches(key, known, 1)
    return f"unknown key; did you mean {found[0]!r}?" if found else ""


def kind_of(value: object) -> str:
    """What to call the type of a value from a document."""
    return _ACTUAL.get(type(value), type(value).__name__)


def _unknown_key(key: str, known: Mapping[str, object], instead: Mapping[str, str]) -> str:
    if key in instead:
        return f"unknown key; use {instead[key]!r} instead"
    return nearest_key(key, known) or f"unknown key; known are {', '.join(map(repr, known))}"


def _text(found: Mapping[str, Any]) -> str:
    kind = found["type"]
    if kind in _EXPECTED:
        return f"must be {_EXPECTED[kind]}, not {kind_of(found['input'])}"
    if kind == "enum":
        return f"must be one of {found['ctx']['expected']}"
    told = str(found["msg"]).removeprefix("Value error, ").replace("Input should", "must")
    return _TOLD.get(kind, told)


def _path(loc: KeyPath, document: Any) -> KeyPath:
    """`loc` without the steps that are pydantic's own: alternatives, and `[key]`."""
    path: KeyPath = ()
    for step in loc:
        try:
            document = document[step]
        except (TypeError, LookupError):
            continue
        path = (*path, step)
    return path


def _fields(annotation: Any, path: KeyPath) -> Mapping[str, object]:
    """The keys that a model has at `path` inside `annotation`."""
    for step in path:
        annotation = _under(_bare(annotation), step)
    annotation = _bare(annotation)
    return annotation.model_fields if _is_model(annotation) else {}


def _under(annotation: Any, step: str | int) -> Any:
    if _is_model(annotation):
        return annotation.model_fields[step].annotation
    # list[value], tuple[value, ...] or dict[key, value]
    return get_args(annotation)[1 if get_origin(annotation) is dict else 0]


def _bare(annotation: Any) -> Any:
    """Without `Annotated` and `None`; no document here has another choice between types."""
    while (origin := get_origin(annotation)) in (Annotated, Union, UnionType):
        args = get_args(annotation)
        annotation = args[0] if origin is Annotated or args[0] is not NoneType else args[1]
    return annotation


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
