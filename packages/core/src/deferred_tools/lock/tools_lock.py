"""Which tools are accepted, as a value, and what is wrong with one that is not.

Knows no registry: whoever builds one asks about each tool of a server. What the host itself wrote
needs nobody's leave, so it is not asked about.
"""

import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self

from deferred_tools.lock import lockfile
from deferred_tools.lock.locked import PARTS, LockedTool
from deferred_tools.spec import ToolSpec

_CURE = "look at it with `deferred-tools diff`, accept it with `deferred-tools lock`"


@dataclass(frozen=True)
class ToolsLock:
    """The accepted tools, by qualified id."""

    tools: Mapping[str, LockedTool] = field(default_factory=dict)
    _asked: dict[str, LockedTool] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @classmethod
    def of(cls, specs: Iterable[ToolSpec], identities: Mapping[str, str]) -> Self:
        """A lock that accepts `specs` as they are.

        `identities` are those of their servers, by source. Of two tools with one id the first
        counts, as in a registry.
        """
        tools: dict[str, LockedTool] = {}
        for spec in specs:
            locked = LockedTool.of(spec, identities.get(spec.source, ""))
            tools.setdefault(locked.id, locked)
        return cls(tools)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Self:
        """Read a lock file.

        Raises:
            ConfigurationError: It cannot be read, or not every part of it can be relied on.
        """
        return cls(lockfile.read(path))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Put a lock file in the place of the one at `path`, all at once.

        Raises:
            ConfigurationError: It cannot be written; the old one stands.
        """
        lockfile.write(path, self.tools.values())

    def objection(self, spec: ToolSpec, identity: str) -> str:
        """Why a tool must be withheld, for the host; "" when it is as it was accepted.

        `identity` is that of the tool's server.
        """
        accepted = self.tools.get(spec.id)
        if accepted is None:
            return f"it has not been accepted; {_CURE}"
        present = self._digested(LockedTool.of(spec, identity))
        if present.digest == accepted.digest:
            return ""
        parts = " and ".join(part.replace("_", " ") for part in present.changed_since(accepted))
        return f"its {parts} changed since it was accepted; {_CURE}"

    def _digested(self, present: LockedTool) -> LockedTool:
        """`present`, or its twin of the last time: a registry is built often, of the same parts."""
        before = self._asked.get(present.id)
        if before and all(getattr(before, part) is getattr(present, part) for part in PARTS):
            return before
        self._asked[present.id] = present
        return present

    def taking(self, new: "ToolsLock", ids: Collection[str]) -> "ToolsLock":
        """This lock, with the tools of these `ids` as `new` has them, or without if it has not."""
        ours = {id_: tool for id_, tool in self.tools.items() if id_ not in ids}
        return ToolsLock(ours | {id_: tool for id_, tool in new.tools.items() if id_ in ids})
