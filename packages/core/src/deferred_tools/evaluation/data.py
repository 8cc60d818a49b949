"""Tools and queries from files of JSON lines, plain or gzipped.

A row of tools has `id`, `name`, `description`, `parameters` (JSON Schema) and `server`, of which
the last three may be missing or null; a row of queries has `id`, `query` and `relevant` (what the
tools are called, see `by_name`). Other keys are ignored. A bad row costs only itself, and is
reported with file and line.
"""

import codecs
import gzip
import hashlib
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, Field, StringConstraints, ValidationError

from deferred_tools.errors import ConfigurationError
from deferred_tools.spec import Tier, ToolSpec, namespace

_GZIP = b"\x1f\x8b"
_SHOWN = 3

_Id = Annotated[str, Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class Query:
    """A request, and the names of the tools that answer it: at least one."""

    id: str
    text: str
    relevant: frozenset[str]


Row = TypeVar("Row", ToolSpec, Query)


@dataclass(frozen=True, slots=True)
class Rows(Generic[Row]):
    """What a file holds, in its order, and what is wrong with the rows that were left out."""

    rows: tuple[Row, ...]
    problems: tuple[str, ...]


class _ToolRow(BaseModel):
    id: _Id
    name: _Id
    description: str | None = None
    parameters: dict[str, Any] | None = None
    server: str | None = None


class _QueryRow(BaseModel):
    id: _Id
    query: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
    relevant: Annotated[list[_Id], Field(min_length=1)]


Model = TypeVar("Model", _ToolRow, _QueryRow)


def read_tools(path: Path) -> Rows[ToolSpec]:
    """The tools of a file. A tool goes by its `id`, so of two with one id the first is kept.

    Raises:
        ConfigurationError: The file cannot be read, or holds no tool.
    """
    found: dict[str, ToolSpec] = {}
    problems: list[str] = []
    for place, row in _parsed(path, _ToolRow):
        if isinstance(row, str):
            problems.append(f"{place}: {row}")
        elif row.id in found:
            problems.append(f"{place}: there is a tool with the id {row.id!r} before it")
        else:
            found[row.id] = ToolSpec(
                source=row.server or "functions",
                tool=row.name,
                description=row.description or "",
                input_schema=row.parameters,
                tier=Tier.MCP if row.server else Tier.CODE,
                name=row.id,
            )
    return Rows(_some(path, "tools", tuple(found.values()), problems), tuple(problems))


def read_queries(path: Path) -> Rows[Query]:
    """The queries of a file.

    Raises:
        ConfigurationError: The file cannot be read, or holds no query.
    """
    found: list[Query] = []
    problems: list[str] = []
    for place, row in _parsed(path, _QueryRow):
        if isinstance(row, str):
            problems.append(f"{place}: {row}")
        else:
            found.append(Query(row.id, row.query, frozenset(row.relevant)))
    return Rows(_some(path, "queries", tuple(found), problems), tuple(problems))


def sample(queries: Sequence[Query], most: int) -> tuple[Query, ...]:
    """At most `most` of `queries`, picked by the hash of their ids: always the same ones."""
    by_hash = sorted(queries, key=lambda query: hashlib.sha256(query.id.encode()).hexdigest())
    return tuple(by_hash[:most])


def by_name(queries: Sequence[Query], tools: Sequence[ToolSpec]) -> tuple[Query, ...]:
    """`queries` with the names of `tools` for what they call relevant.

    A tool may be called by its name, by its qualified id or as `server/tool`, in this order; what
    is none of these stays as it is.
    """
    names = {f"{spec.source}/{spec.tool}": spec.name for spec in tools}
    names |= {spec.id: spec.name for spec in tools}
    names |= {spec.name: spec.name for spec in tools}

    def name(called: str) -> str:
        server, _, tool = called.partition("/")
        # A configuration may call a server what no name can hold.
        return names.get(called) or names.get(f"{namespace(server)}/{tool}", called)

    return tuple(replace(query, relevant=frozenset(map(name, query.relevant))) for query in queries)


def unknown(queries: Sequence[Query], tools: Sequence[ToolSpec]) -> frozenset[str]:
    """The relevant names that none of `tools` has. No retriever can find them."""
    asked = frozenset(name for query in queries for name in query.relevant)
    return asked - {spec.name for spec in tools}


def _parsed(path: Path, model: type[Model]) -> Iterator[tuple[str, Model | str]]:
    """The place (file and line) of each row that is not blank, and the row or what is wrong."""
    for number, line in enumerate(_content(path).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row: Model | str = model.model_validate_json(line)
        except ValidationError as error:
            row = "; ".join(map(_problem, error.errors(include_url=False, include_input=False)))
        yield f"{path}:{number}", row


def _problem(error: Any) -> str:
    where = ".".join(map(str, error["loc"]))
    return f"{where}: {error['msg']}" if where else str(error["msg"])


def _content(path: Path) -> bytes:
    try:
        content = path.read_bytes()
        if content.startswith(_GZIP):
            content = gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigurationError(f"{path} cannot be read: {reason}.") from error
    return content.removeprefix(codecs.BOM_UTF8)


def _some(path: Path, what: str, rows: tuple[Row, ...], problems: Sequence[str]) -> tuple[Row, ...]:
    if rows:
        return rows
    listed = "".join(f"\n  - {problem}" for problem in problems[:_SHOWN])
    more = f"\n  and {len(problems) - _SHOWN} more rows" if len(problems) > _SHOWN else ""
    raise ConfigurationError(
        f"{path} holds no {what}: it should have one JSON object per line.{listed}{more}"
    )
