"""What a model meant by a value that does not fit, where there is only one answer. Pure.

Two habits of models are mended: numbers, booleans, null, lists and objects that are written as
text, and optional properties that are filled with null or "". It goes by what the validator
complains of, so nothing that the schema accepts is touched; text is read only where no text
would fit; and the new value stands only if it fits as a whole.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from jsonschema_rs import ValidationError
from jsonschema_rs import ValidationErrorKind as Kind

from deferred_tools.complaints import at, branches, expected, kind_of, named

Check = Callable[[Any], Sequence[ValidationError]]
_Edits = dict[tuple[str | int, ...], ValidationError]
"""The texts to read and the properties to drop, each with a complaint about it."""

# Text within text within text; each round checks the value again.
_ROUNDS = 4
_NOTHING = object()
_OF_PROPERTIES = {
    "properties",
    "patternProperties",
    "additionalProperties",
    "unevaluatedProperties",
}
# Keywords before a name, which may itself look like a keyword.
_NAMED = {"properties", "patternProperties", "dependentSchemas", "dependencies"}


class Mended(NamedTuple):
    """A value, what was done to it, and what still does not fit."""

    value: Any
    notes: tuple[str, ...] = ()
    errors: Sequence[ValidationError] = ()


def mend(value: Any, errors: Sequence[ValidationError], check: Check) -> Mended:
    """What was meant by `value`, of which `check` said `errors`; `value` itself if unclear.

    Then `errors` are what is left once the texts with only one reading are read.
    """
    read = _rounds(Mended(value, errors=errors), check, drop=False)
    done = _rounds(read, check, drop=True) if read.errors else read
    return Mended(value, errors=read.errors) if done.errors else done


def _rounds(state: Mended, check: Check, *, drop: bool) -> Mended:
    for _ in range(_ROUNDS):
        value, notes = _edited(state.value, _all_edits(state.errors, drop, 0))
        if not notes:
            break
        state = Mended(value, (*state.notes, *notes), check(value))
    return state


def _edited(value: Any, edits: _Edits) -> tuple[Any, list[str]]:
    notes: list[str] = []
    box = [_copy(value)] if edits else [value]
    for path, error in edits.items():
        holder: Any = box
        *above, last = (0, *path)
        for step in above:
            holder = holder[step]
        item = holder[last]
        if item != error.instance:
            continue  # the validator takes NaN for null
        if _is_blank(item):
            del holder[last]
            what = "null" if item is None else "empty text"
            must = expected(error) or "something else"
            notes.append(at(path, f"{what} dropped, as it is optional and must be {must}"))
        else:
            holder[last] = _reading(item)
            notes.append(at(path, f"text read as {named(kind_of(holder[last]))}"))
    return box[0], notes


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copy(item) for name, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list | tuple) else value


def _all_edits(errors: Iterable[ValidationError], drop: bool, nested: int) -> _Edits:
    found: _Edits = {}
    for error in errors:
        found |= _edits(error, drop, nested)
    return found


def _edits(error: ValidationError, drop: bool, nested: int) -> _Edits:
    """What would settle `error`; empty if nothing would, or more than one thing."""
    item, path = error.instance, tuple(error.instance_path)
    if isinstance(item, str):
        value = _reading(item)
        if value is not _NOTHING and _fits_only(error, value):
            return {path: error}
    if drop and _is_blank(item) and _is_declared(error):
        return {path: error}
    return _edits_of_alternatives(branches(error, nested), drop, nested + 1)


def _is_blank(item: Any) -> bool:
    return item is None or item == ""


def _is_declared(error: ValidationError) -> bool:
    """Whether `error` is about a property that the schema names: not an item, nor any name's."""
    steps, last = iter(error.evaluation_path), ""
    for step in steps:
        if step in _OF_PROPERTIES:
            last = str(step)
        if step in _NAMED:
            next(steps, None)
    return last == "properties" and isinstance(error.instance_path[-1], str)


def _edits_of_alternatives(found: list[list[ValidationError]], drop: bool, nested: int) -> _Edits:
    possible: list[_Edits] = []
    others: list[list[ValidationError]] = []
    for branch in found:
        each = [_edits(error, drop, nested) for error in branch]
        if all(each):
            possible.append({path: error for edits in each for path, error in edits.items()})
        else:
            others.append(branch)
    if len({frozenset(edits) for edits in possible}) != 1:
        return {}
    edits = possible[0]
    # Would another alternative fit with other text at the same places, it may be that one.
    for branch in others:
        if all(tuple(e.instance_path) in edits and not _no_text_fits(e, nested) for e in branch):
            return {}
    return edits


def _fits_only(error: ValidationError, value: Any) -> bool:
    """Whether `error`, about a text, asks for no other text but for the like of `value`."""
    kind = error.kind
    if isinstance(kind, Kind.Type):
        name = kind_of(value)
        return name in kind.types or (name == "integer" and "number" in kind.types)
    if isinstance(kind, Kind.Constant):
        return _same(kind.expected_value, value)
    if isinstance(kind, Kind.Enum):
        return _no_text_fits(error, 0) and any(_same(option, value) for option in kind.options)
    return False


def _no_text_fits(error: ValidationError, nested: int) -> bool:
    kind = error.kind
    if isinstance(kind, Kind.Type):
        return "string" not in kind.types
    if isinstance(kind, Kind.Constant):
        return not isinstance(kind.expected_value, str)
    if isinstance(kind, Kind.Enum):
        return not any(isinstance(option, str) for option in kind.options)
    found = branches(error, nested)
    return bool(found) and all(
        any(_no_text_fits(inner, nested + 1) for inner in branch) for branch in found
    )


def _same(one: Any, other: Any) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _reading(text: str) -> Any:
    """The JSON that `text` is, exactly; `_NOTHING` for other text and what Python cannot hold."""
    try:
        value = json.loads(
            text, parse_float=_exact, parse_constant=_refused, object_pairs_hook=_unique
        )
    except (ValueError, ArithmeticError, RecursionError):
        return _NOTHING
    padded = text != text.strip() and not isinstance(value, dict | list)
    return _NOTHING if padded or isinstance(value, str) else value


def _exact(text: str) -> float:
    value = float(text)
    if Decimal(repr(value)) != Decimal(text):
        raise ValueError("more digits than a number holds")
    return value


def _refused(text: str) -> Any:
    raise ValueError(f"{text} is no JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError("a name is given twice")
    return found
