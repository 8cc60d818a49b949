"""Settings say the same from Python and from each kind of file, or everything that is wrong."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.errors import ConfigurationError
from deferred_tools.policy import CallerKind
from deferred_tools.settings import OnUnreachable, Settings, Trifecta
from deferred_tools.spec import ToolTag
from deferred_tools.toolset import Toolset

CANARY = "canary-4f1c-secret"
DOCUMENT: dict[str, Any] = {
    "instance": "eu-1",
    "contracts": {"send_mail": {"description": "Sends.", "tags": ["egress"]}},
    "overrides": {"send_mail": {"server": "mail", "tool": "send", "args": "{'to': args.to}"}},
    "disabled": ["old"],
    "servers": {"mail": {"namespace": "m", "deny": ["delete_*"], "required": True}},
    "tags": {"m__*": ["untrusted_input"]},
    "grants": [{"tools": ["*"], "kinds": ["principal"], "roles": ["admin"]}],
    "agents": {"writer": {"mcp": []}},
    "unreachable": "fail",
    "trifecta": "off",
    "coerce": False,
    "lock": "tools.lock",
}
YAML = """\
instance: eu-1
contracts:
  send_mail:
    description: Sends.
    tags: [egress]
overrides:
  send_mail:
    server: mail
    tool: send
    args: "{'to': args.to}"
disabled: [old]
servers:
  mail: {namespace: m, deny: [delete_*], required: true}
tags: {m__*: [untrusted_input]}
grants:
  - tools: ["*"]
    kinds: [principal]
    roles: [admin]
agents: {writer: {mcp: []}}
unreachable: fail
trifecta: off
coerce: false
lock: tools.lock
"""
TOML = """\
instance = "eu-1"
disabled = ["old"]
unreachable = "fail"
trifecta = "off"
coerce = false
lock = "tools.lock"
tags."m__*" = ["untrusted_input"]
agents.writer.mcp = []
[contracts.send_mail]
description = "Sends."
tags = ["egress"]
[overrides.send_mail]
server = "mail"
tool = "send"
args = "{'to': args.to}"
[servers]
mail = { namespace = "m", deny = ["delete_*"], required = true }
[[grants]]
tools = ["*"]
kinds = ["principal"]
roles = ["admin"]
"""
TEXTS = {"yaml": YAML, "toml": TOML, "json": json.dumps(DOCUMENT, indent=1)}


def test_what_is_not_set_decides_nothing() -> None:
    settings = Settings.from_dict({})
    assert settings == Settings()
    assert settings.grants is None
    assert settings.lock is None
    assert (settings.unreachable, settings.trifecta) == (OnUnreachable.WARN, Trifecta.REFUSE)


@pytest.mark.parametrize(
    ("kind", "tool", "roles"), [("yaml", 9, 18), ("toml", 14, 21), ("json", 14, 43)]
)
def test_each_kind_of_file_gives_the_same_settings_with_its_lines(
    tmp_path: Path, kind: str, tool: int, roles: int
) -> None:
    file = tmp_path / f"tools.{kind}"
    file.write_text(TEXTS[kind])
    settings = Settings.from_file(file)
    assert settings == Settings.from_dict({**DOCUMENT, "lock": str(tmp_path / "tools.lock")})
    assert settings.contracts["send_mail"].tags == (ToolTag.EGRESS,)
    assert settings.grants is not None
    assert settings.grants[0].kinds == (CallerKind.PRINCIPAL,)
    place = "overrides.send_mail.tool"
    assert settings.where("overrides", "send_mail", "tool") == f"{file}, line {tool}: {place}"
    place = "grants.0.roles.0"
    assert settings.where("grants", 0, "roles", 0) == f"{file}, line {roles}: {place}"


def test_without_a_file_a_place_is_its_keys() -> None:
    assert Settings().where("overrides", "a", "tool") == "overrides.a.tool"


BAD = """\
servers:
  github:
    allwo: [x]
    deny: "*"
  github:
    required: yes
contracts:
  "": {}
  a: {output: []}
overrides: {a: {server: s}}
disabled: [1]
tags: {"*x": [evil]}
grants: [{tools: ["x*y"], role: admin}]
trifecta: yes
lok: x
"""


def test_every_problem_of_a_file_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "tools.yaml"
    file.write_text(BAD.replace("  github:\n    required", "  other:\n    required"))
    with pytest.raises(ConfigurationError) as caught:
        Settings.from_file(file)
    first, *rest = str(caught.value).splitlines()
    assert first == f"13 problem(s) in {file}:"
    assert rest == [
        "  - line 3: servers.github.allwo: unknown key; did you mean 'allow'?",
        "  - line 4: servers.github.deny: must be an array, not a string",
        "  - line 6: servers.other.required: must be true or false, not a string",
        "  - line 8: contracts.'': its key must not be empty",
        "  - line 9: contracts.a.output: must be an object, not an array",
        "  - line 10: overrides.a.tool: is required; add it",
        "  - line 11: disabled.0: must be a string, not a number",
        "  - line 12: tags.*x: its key must be a name, 'prefix*' or '*'",
        "  - line 12: tags.*x.0: must be one of 'untrusted_input', 'sensitive' or 'egress'",
        "  - line 13: grants.0.tools.0: must be a name, 'prefix*' or '*'",
        "  - line 13: grants.0.role: unknown key; did you mean 'roles'?",
        "  - line 14: trifecta: must be one of 'refuse', 'ask' or 'off'",
        "  - line 15: lok: unknown key; did you mean 'lock'?",
    ]


def test_a_key_that_is_written_twice_is_told_with_all_else(tmp_path: Path) -> None:
    file = tmp_path / "tools.yaml"
    file.write_text(BAD)
    with pytest.raises(ConfigurationError) as caught:
        Settings.from_file(file)
    twice = "servers.github: is written more than once, first on line 2; keep one of them"
    assert f"  - line 5: {twice}\n" in str(caught.value)
    assert "line 15: lok" in str(caught.value)


def test_an_empty_object_is_a_file_of_settings_and_comments_alone_are_not(tmp_path: Path) -> None:
    (tmp_path / "tools.json").write_text("{}")
    assert Settings.from_file(tmp_path / "tools.json") == Settings()
    (tmp_path / "tools.yaml").write_text("# grants: ...\n")
    with pytest.raises(ConfigurationError, match="must be an object"):
        Settings.from_file(tmp_path / "tools.yaml")


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters())
KEYS = st.sampled_from(
    [*Settings.model_fields, "send_mail", "input", "tags", "tools", "roles", "kinds", "[key]", ""]
) | st.text(st.characters(), max_size=5)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=20,
)
FIELDS = st.dictionaries(st.sampled_from(sorted(Settings.model_fields)), DOCUMENTS, max_size=5)


@given(DOCUMENTS | FIELDS)
def test_any_document_gives_settings_or_a_configuration_error(document: Any) -> None:
    try:
        settings = Settings.from_dict(document)
    except ConfigurationError as error:
        told = str(error)
    else:
        told = ""
        assert isinstance(settings, Settings)
    assert all(line.startswith("  - ") for line in told.splitlines()[1:])


@given(st.sampled_from(sorted(Settings.model_fields)), st.sampled_from(["a", "tools", "tags"]))
def test_no_value_is_ever_quoted(field: str, key: str) -> None:
    values: list[Any] = [CANARY, [CANARY], {key: CANARY}, {key: {"tags": CANARY}}, [{key: CANARY}]]
    for value in values:
        try:
            Settings.from_dict({field: value, "wrong": CANARY})
        except ConfigurationError as error:
            assert CANARY not in str(error)  # noqa: PT017 - some values are right


@pytest.mark.parametrize("wrong", ["tools.yaml", {"disabled": []}, 5], ids=str)
def test_what_is_given_as_settings_and_is_none_is_refused_with_the_cure(wrong: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"not \w+: read a file with `Settings.from_file"):
        Toolset([], settings=wrong)
    assert Settings.of(None) == Settings()
