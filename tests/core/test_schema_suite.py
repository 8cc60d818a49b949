"""The official JSON Schema test suite, every draft that a server may declare.

Left out are the groups that need a document from elsewhere, which we never fetch: told by the
reason of the refusal, and counted, so that nothing else is left out and the number cannot grow.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from deferred_tools.limits import Limits
from deferred_tools.validation import CompiledSchema, SchemaError
from tests.support.shared import shared_folder

DRAFTS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}
# Groups that refer to documents of the suite's server, or to a meta-schema that is there.
REMOTE = {"draft4": 8, "draft6": 11, "draft7": 11, "draft2019-09": 17, "draft2020-12": 22}
REMOTE_OPTIONAL = {"draft4": 0, "draft6": 0, "draft7": 1, "draft2019-09": 2, "draft2020-12": 3}
# Since 2019-09 `format` is an annotation unless a meta-schema says otherwise.
FORMAT_IS_CHECKED = ("draft4", "draft6", "draft7")
ELSEWHERE = ("Retrieval is disabled, cannot fetch http://localhost:1234/", "Unknown meta-schema: ")


def groups(draft: str, pattern: str) -> Iterator[tuple[str, dict[str, Any], list[dict[str, Any]]]]:
    """Each group's name, its schema with the draft declared, and its cases."""
    folder = shared_folder() / "json-schema-suite" / "tests" / draft
    for path in sorted(folder.glob(pattern)):
        for group in json.loads(path.read_text(encoding="utf-8")):
            schema = group["schema"]
            # A schema that is only true or false is no schema of a tool.
            schema = {"allOf": [schema]} if isinstance(schema, bool) else schema
            name = f"{path.name}: {group['description']}"
            yield name, {"$schema": DRAFTS[draft], **schema}, group["tests"]


def check(draft: str, pattern: str) -> tuple[int, int, list[str]]:
    """How many cases were checked, how many groups left out, and which cases disagree."""
    checked, remote, wrong = 0, 0, []
    for name, schema, cases in groups(draft, pattern):
        try:
            compiled = CompiledSchema(schema, Limits())
        except SchemaError as error:
            if not any(reason in str(error) for reason in ELSEWHERE):
                wrong.append(f"{name}: {error}")
            remote += 1
            continue
        for case in cases:
            checked += 1
            problems = compiled.problems(case["data"])
            if case["valid"] == bool(problems):
                wrong.append(f"{name}: {case['description']}")
            assert_complaints(problems)
            assert_fitted(compiled, case["data"], problems)
    return checked, remote, wrong


def assert_complaints(problems: tuple[str, ...]) -> None:
    assert len(problems) <= 6
    assert all(0 < len(problem) < 700 for problem in problems)
    assert not any("steps" in problem for problem in problems)


def assert_fitted(compiled: CompiledSchema, data: Any, problems: tuple[str, ...]) -> None:
    fitted = compiled.fit(data)
    if not problems:
        assert fitted.value is data
    assert bool(fitted.notes) == (bool(problems) and not fitted.problems)
    if not fitted.problems:
        assert compiled.problems(fitted.value) == ()


@pytest.mark.parametrize("draft", DRAFTS)
def test_every_case_of_the_suite_agrees_but_for_what_is_remote(draft: str) -> None:
    checked, remote, wrong = check(draft, "*.json")
    assert wrong == []
    assert remote == REMOTE[draft]
    assert checked > 500


@pytest.mark.parametrize("draft", DRAFTS)
def test_every_optional_case_agrees_too(draft: str) -> None:
    checked, remote, wrong = check(draft, "optional/*.json")
    assert wrong == []
    assert remote == REMOTE_OPTIONAL[draft]
    assert checked > 30


@pytest.mark.parametrize("draft", FORMAT_IS_CHECKED)
def test_formats_are_checked_in_the_drafts_that_do(draft: str) -> None:
    checked, remote, wrong = check(draft, "optional/format/*.json")
    assert wrong == []
    assert remote == 0
    assert checked > 100


@pytest.mark.parametrize("draft", [draft for draft in DRAFTS if draft not in FORMAT_IS_CHECKED])
def test_formats_are_annotations_in_the_drafts_since(draft: str) -> None:
    for name, schema, cases in groups(draft, "optional/format/*.json"):
        compiled = CompiledSchema(schema, Limits())
        assert not [case for case in cases if compiled.problems(case["data"])], name
