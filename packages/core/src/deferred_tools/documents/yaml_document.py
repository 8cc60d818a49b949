"""YAML read as JSON, with the line of each key. The one module that needs PyYAML.

Read from the parser's events, so that nothing is constructed but texts, numbers, booleans, null
and dates. An alias (`*name`) is the value of its anchor once more. Of the words for booleans
only `true` and `false` are some: `off` is a text, as it is in JSON and in today's YAML.
"""

from typing import Any

import yaml

from deferred_tools.documents.origin import KeyLine, KeyPath, UnreadableError

_MERGE = "tag:yaml.org,2002:merge"
_BOOL = "tag:yaml.org,2002:bool"
# What else a scalar without quotes can be besides a text.
_TYPED = frozenset(f"tag:yaml.org,2002:{kind}" for kind in ("float", "int", "null", "timestamp"))


def read_yaml(text: str, max_depth: int) -> tuple[Any, tuple[KeyLine, ...]]:
    """The one document in `text`, None if there is none; and its keys with their lines, in order.

    A key that is written twice comes twice in the keys; the last stands in the document.

    Raises:
        UnreadableError: It cannot be read, or is nested deeper than `max_depth`.
    """
    try:
        reader = _Reader(text, max_depth)
        return reader.document(), tuple(reader.keys)
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise UnreadableError(f"line {line}: holds a character that YAML forbids") from None
    except yaml.MarkedYAMLError as error:
        told = ": ".join(filter(None, (error.context, error.problem)))
        raise _error(error.problem_mark, f"not valid YAML: {told}") from None


class _Reader:
    def __init__(self, text: str, max_depth: int) -> None:
        # The loader in Python: that in C tells errors in other words.
        self._loader = yaml.SafeLoader(text)
        self._max_depth = max_depth
        self._anchors: dict[str, Any] = {}
        self.keys: list[KeyLine] = []

    def document(self) -> Any:
        self._loader.get_event()
        if self._loader.check_event(yaml.StreamEndEvent):
            return None
        self._loader.get_event()
        document = self._value(())
        self._loader.get_event()
        if not self._loader.check_event(yaml.StreamEndEvent):
            mark = self._loader.peek_event().start_mark
            raise _error(mark, "a second document begins; keep one of them")
        return document

    def _value(self, path: KeyPath) -> Any:
        event = self._loader.get_event()
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self._anchors:
                raise _error(event.start_mark, "an alias (`*`) without an anchor (`&`) before it")
            return self._anchors[event.anchor]
        if event.tag is not None:
            raise _error(event.start_mark, "tags (`!`) are not read; remove this one")
        if len(path) > self._max_depth:
            told = f"nested deeper than {self._max_depth} levels; make it flatter"
            raise _error(event.start_mark, told)
        if isinstance(event, yaml.MappingStartEvent):
            value: Any = self._mapping(path)
        elif isinstance(event, yaml.SequenceStartEvent):
            value = self._sequence(path)
        else:
            value = self._scalar(event)
        # Only now, so that nothing can hold itself.
        if event.anchor is not None:
            self._anchors[event.anchor] = value
        return value

    def _mapping(self, path: KeyPath) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not self._loader.check_event(yaml.MappingEndEvent):
            event = self._loader.peek_event()
            mark = event.start_mark
            if isinstance(event, yaml.ScalarEvent) and self._kind(event) == _MERGE:
                raise _error(mark, "merging (`<<`) is not read; write the keys out")
            key = self._value(path)
            if not isinstance(key, str):
                raise _error(mark, "a key must be a text; put quotes around it")
            self.keys.append(((*path, key), mark.line + 1))
            found[key] = self._value((*path, key))
        self._loader.get_event()
        return found

    def _sequence(self, path: KeyPath) -> list[Any]:
        found: list[Any] = []
        while not self._loader.check_event(yaml.SequenceEndEvent):
            found.append(self._value((*path, len(found))))
        self._loader.get_event()
        return found

    def _scalar(self, event: Any) -> Any:
        tag = self._kind(event)
        if tag == _BOOL and event.value.lower() in {"true", "false"}:
            return event.value.lower() == "true"
        if tag not in _TYPED:
            return event.value
        try:
            return self._loader.construct_object(yaml.ScalarNode(tag, event.value))
        except ValueError:
            cure = "put quotes around it if it is a text"
            raise _error(event.start_mark, f"is no number or date that exists; {cure}") from None

    def _kind(self, scalar: Any) -> Any:
        return self._loader.resolve(yaml.ScalarNode, scalar.value, scalar.implicit)


def _error(mark: Any, text: str) -> UnreadableError:
    return UnreadableError(f"line {mark.line + 1}, column {mark.column + 1}: {text}")
