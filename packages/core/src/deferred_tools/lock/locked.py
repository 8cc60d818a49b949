"""One tool as it was accepted: all that its server says of it, and which server that is. Pure."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from deferred_tools.spec import ToolSpec

PARTS = ("server", "title", "description", "input_schema", "output_schema", "annotations")
"""What can change, by the name that it has in a lock file too."""


@dataclass(frozen=True, kw_only=True)
class LockedTool:
    """What the lock holds of one tool. Names that models see, and tags, are the host's own."""

    id: str
    """The qualified id, `<source>__<tool>`."""
    server: str = ""
    """The identity of its server, a hash; "" if its source has none."""
    title: str = ""
    description: str = ""
    input_schema: Mapping[str, Any] | None = None
    output_schema: Mapping[str, Any] | None = None
    annotations: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, spec: ToolSpec, identity: str) -> Self:
        """The tool as its server describes it now."""
        return cls(
            id=spec.id,
            server=identity,
            title=spec.title,
            description=spec.description,
            input_schema=spec.input_schema,
            output_schema=spec.output_schema,
            annotations=spec.annotations,
        )

    @cached_property
    def digest(self) -> str:
        """SHA-256 over all of it, in hex; the order of keys makes no difference."""
        told = canonical([self.id, *(getattr(self, part) for part in PARTS)])
        return hashlib.sha256(told.encode()).hexdigest()

    def changed_since(self, earlier: "LockedTool") -> tuple[str, ...]:
        """The `PARTS` in which the two differ."""
        return tuple(p for p in PARTS if not same(getattr(self, p), getattr(earlier, p)))


def canonical(value: Any) -> str:
    """JSON of `value` in ASCII, the same for whatever is the same but for the order of keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=plain)


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are one. Unlike `==`, this tells `1` from `true` and from `1.0`."""
    return canonical(one) == canonical(other)


def plain(value: Any) -> Any:
    """What to write in place of a value that `json` does not know."""
    return dict(value) if isinstance(value, Mapping) else str(value)
