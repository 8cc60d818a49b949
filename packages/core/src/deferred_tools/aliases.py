"""Other words for tools, from a file: searched, never shown to a model.

"github__create_issue" = ["bug report", "Fehler melden", "不具合を報告"]
"jira__*" = ["ticket"]
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

from deferred_tools.documents.reading import read_document
from deferred_tools.hookspecs import hookimpl
from deferred_tools.policy import matches
from deferred_tools.spec import ToolSpec


@dataclass(frozen=True, slots=True)
class Aliases:
    """A plugin that adds `words` to the index: `Toolset(..., plugins=[Aliases({...})])`.

    Nothing of it is in a prompt, in a tool's description or in its digest.
    """

    words: Mapping[str, tuple[str, ...]]
    """By name or qualified id of a tool, or by `prefix*` of either."""

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Self:
        """Read a TOML, YAML or JSON file of `"tool": ["word", ...]`.

        A `*` at the end of a key stands for any rest.

        Raises:
            ConfigurationError: It cannot be read or used; names every problem with its line.
        """
        document, origin = read_document(path)
        problems = [
            ((key,), problem)
            for key, value in document.items()
            if (problem := _problem(key, value))
        ]
        if problems or origin.repeated:
            raise origin.error(problems)
        return cls({key: tuple(words) for key, words in document.items()})

    @hookimpl
    def deferred_tools_aliases(self, spec: ToolSpec) -> tuple[str, ...]:
        """The words for `spec`, each once."""
        fitting = (words for key, words in self.words.items() if _fits(key, spec))
        return tuple(dict.fromkeys(word for words in fitting for word in words))

    def unused(self, specs: Iterable[ToolSpec]) -> tuple[str, ...]:
        """The keys that fit none of `specs`: misspelt, or of a server that is away.

        A plugin sees one tool at a time and cannot tell; ask with `toolset.registry.specs`.
        """
        names = {name for spec in specs for name in (spec.name, spec.id)}
        return tuple(
            key
            for key in self.words
            if key not in names
            and not (key.endswith("*") and any(matches((key,), name) for name in names))
        )


def _fits(key: str, spec: ToolSpec) -> bool:
    return matches((key,), spec.name) or matches((key,), spec.id)


def _problem(key: str, value: object) -> str:
    """What is wrong with one entry, and the cure; "" if nothing is."""
    if isinstance(value, dict):
        return 'is a table; write "tool" = ["word"], with quotes around a name that holds a dot'
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        return f'must be a list of texts, such as "{key}" = ["word", "other word"]'
    if not value or not all(word.strip() for word in value):
        return "holds no word, or an empty one; give one or remove it"
    if not key or "*" in key[:-1]:
        return "is no name, id or `prefix*`; a `*` may stand at the end alone"
    return ""
