"""What a model of meaning reads of a tool.

Its name, what it is for and what it takes are read one by one: in one text the longest of them
hides the others, and a change of one would mean reading all of them anew.
"""

import re
from collections.abc import Mapping
from itertools import islice
from typing import NamedTuple

from deferred_tools.sentences import Sentences
from deferred_tools.spec import ToolSpec

PURPOSE_SENTENCES, PURPOSE_LENGTH = 2, 500
"""Sentences of a description, and characters of them, that are read: later ones say how."""
PARAMETERS = 12
"""Parameters whose names are read."""
WORDS_LENGTH = 100
"""Characters of one name that are read."""

_READ = 6_000
# Where a word ends within `getUser` and `XMLFeed`; and whatever is no letter or digit.
_BORDER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\W_]+")
# The source of tools that come from no server.
_NO_SERVER = "functions"


class ToolText(NamedTuple):
    """The texts of one tool."""

    name: str
    """Its name as words, with that of its server."""
    purpose: str
    """What it is for; empty if it does not say."""
    parameters: str
    """The names of what it takes, as words; empty if it takes nothing."""

    @classmethod
    def of(cls, spec: ToolSpec) -> "ToolText":
        """Read `spec`."""
        server = "" if spec.source == _NO_SERVER else f" ({_words(spec.source)})"
        telling = Sentences.of(spec.description[:_READ], PURPOSE_SENTENCES).telling
        purpose = " ".join(telling) or spec.title or spec.description.strip()
        properties = spec.parameters.get("properties")
        names = properties if isinstance(properties, Mapping) else {}
        return cls(
            name=f"{_words(spec.tool)}{server}",
            purpose=purpose[:PURPOSE_LENGTH],
            parameters=", ".join(_words(str(name)) for name in islice(names, PARAMETERS)),
        )


def _words(identifier: str) -> str:
    return _BORDER.sub(" ", identifier[:WORDS_LENGTH]).strip() or identifier[:WORDS_LENGTH]
