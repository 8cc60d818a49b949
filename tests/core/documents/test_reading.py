"""A file is read whole, with the lines of its keys, or refused with the place and the cure."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.documents.reading import read_document
from deferred_tools.errors import ConfigurationError

NESTED = "nested deeper than 100 levels; make it flatter"
DIGITS = "1" * 5_000
LAUGHS = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{name}: &{name} [{','.join([f'*{before}'] * 10)}]\n"
    for before, name in zip("abcdefghi", "bcdefghij", strict=True)
)


def refusal(file: Path, content: str | bytes) -> str:
    """What is told of a file with `content`, without its folder."""
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(ConfigurationError) as caught:
        read_document(file)
    assert caught.value.__cause__ is None
    return str(caught.value).replace(str(file), file.name)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("f.json", '{\n"a": {"b": [1, true]},\n"c": "off", "d": null, "e": 1.5}'),
        ("f.yaml", "\na: {b: [1, true]}\nc: off\nd:\ne: 1.5\n"),
        ("F.YML", "\n'a': &x\n  b: [1, True]\nc: 'off'\nd: ~\ne: 15.0e-1\n"),
    ],
)
def test_formats_say_the_same_in_their_own_ways(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text("\ufeff" + text, encoding="utf-8")
    document, origin = read_document(str(tmp_path / name))
    assert document == {"a": {"b": [1, True]}, "c": "off", "d": None, "e": 1.5}
    assert origin.where(("a", "b", 0)).endswith((f"{name}, line 2: a.b.0", "line 3: a.b.0"))
    assert origin.where(("c",)).endswith((f"{name}, line 3: c", "line 4: c"))


def test_toml_is_read_with_its_lines(tmp_path: Path) -> None:
    (tmp_path / "f.toml").write_text("# mine\n[a]\nb.c = 1\n")
    document, origin = read_document(tmp_path / "f.toml")
    assert document == {"a": {"b": {"c": 1}}}
    assert origin.where(("a", "b")) == f"{tmp_path / 'f.toml'}, line 3: a.b"


def test_an_alias_of_yaml_stands_for_its_anchor_and_stands_where_it_is_used(tmp_path: Path) -> None:
    (tmp_path / "f.yaml").write_text("a: &words\n  - x\n  - y: 1\nb: *words\n")
    document, origin = read_document(tmp_path / "f.yaml")
    assert document == {"a": ["x", {"y": 1}], "b": ["x", {"y": 1}]}
    assert origin.where(("b", 1, "y")) == f"{tmp_path / 'f.yaml'}, line 4: b.1.y"


def test_keys_that_are_written_twice_are_kept_to_be_told(tmp_path: Path) -> None:
    for name, text in (("f.json", '{"a": 1,\n"a": 2}'), ("f.yaml", "a: 1\na: 2\n")):
        (tmp_path / name).write_text(text)
        told = "is written more than once, first on line 1; keep one of them"
        assert read_document(tmp_path / name)[1].repeated == ((("a",), told),)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        # any
        *(
            (f"f{suffix}", " \n", f"f{suffix}: the file is empty; write what it is to hold")
            for suffix in (".json", ".toml", ".yaml")
        ),
        *(
            (
                f"f{suffix}",
                b"\n\xff",
                f"'f{suffix}' cannot be read: line 2 is not UTF-8; save it as UTF-8",
            )
            for suffix in (".json", ".toml", ".yaml")
        ),
        (
            "f.ini",
            "",
            "'f.ini' has none of the suffixes that can be read: .yaml, .yml, .toml, .json",
        ),
        ("f.json", "[]", "f.json: must be an object (keys and their values), not an array"),
        ("f.yaml", "# x", "f.yaml: must be an object (keys and their values), not null"),
        ("f.yaml", "x", "f.yaml: must be an object (keys and their values), not a string"),
        # JSON
        (
            "f.json",
            "{\n // x\n}",
            "f.json: line 2, column 2: JSON has no comments; remove this one",
        ),
        ("f.json", '{"a" 1}', "f.json: line 1, column 6: not valid JSON: Expecting ':' delimiter"),
        (
            "f.json",
            '{"a": NaN,\n"b": [1e999]}',
            (
                "2 problem(s) in f.json:\n"
                "  - line 1: a: must be a finite number\n  - line 2: b.0: must be a finite number"
            ),
        ),
        ("f.json", f'{{"a": {DIGITS}}}', "f.json: holds a number of too many digits"),
        ("f.json", "[" * 100_000, f"f.json: {NESTED}"),
        ("f.json", '{"a":' * 102 + "1" + "}" * 102, f"f.json: {NESTED}"),
        # TOML
        ("f.toml", "a = 1\nb = \n", "f.toml: line 2, column 5: not valid TOML: Invalid value"),
        ("f.toml", 'a = """', "f.toml: end of document: not valid TOML: Unterminated string"),
        (
            "f.toml",
            "[b]\nx.y = 1\nx.y = 2",
            "f.toml: line 3: b.x.y: is written more than once, first on line 2; keep one of them",
        ),
        (
            "f.toml",
            "[b]\n[c]\n[b]",
            "f.toml: line 3: b: is written more than once, first on line 1; keep one of them",
        ),
        (
            "f.toml",
            "a = {}\n[a.b]\n",
            "f.toml: line 2, column 5: not valid TOML: Cannot declare ('a', 'b') twice",
        ),
        (
            "f.toml",
            "a = 2026-11-30\nb = [07:30:00]\nc = inf",
            (
                "3 problem(s) in f.toml:\n"
                "  - line 1: a: is a date or a time; put quotes around it\n"
                "  - line 2: b.0: is a date or a time; put quotes around it\n"
                "  - line 3: c: must be a finite number"
            ),
        ),
        ("f.toml", f"a = {DIGITS}", "f.toml: holds a number of too many digits"),
        ("f.toml", "a = " + "[" * 10_000, f"f.toml: {NESTED}"),
        ("f.toml", ".".join("a" * 200) + " = 1", f"f.toml: {NESTED}"),
        # YAML
        (
            "f.yaml",
            "a:\n\tb: 1",
            (
                "f.yaml: line 2, column 1: not valid YAML: while scanning for "
                r"the next token: found character '\t' that cannot start any token"
            ),
        ),
        (
            "f.yaml",
            "a: b: c",
            "f.yaml: line 1, column 5: not valid YAML: mapping values are not allowed here",
        ),
        ("f.yaml", "a: 1\nb: \0", "f.yaml: line 2: holds a character that YAML forbids"),
        (
            "f.yaml",
            "a: 1\n1: x",
            "f.yaml: line 2, column 1: a key must be a text; put quotes around it",
        ),
        (
            "f.yaml",
            "? [a]\n: x",
            "f.yaml: line 1, column 3: a key must be a text; put quotes around it",
        ),
        (
            "f.yaml",
            "a: !!python/name:os.system",
            "f.yaml: line 1, column 4: tags (`!`) are not read; remove this one",
        ),
        (
            "f.yaml",
            "a: &a\n  <<: *a",
            "f.yaml: line 2, column 3: merging (`<<`) is not read; write the keys out",
        ),
        (
            "f.yaml",
            "a: 1\n---\nb: 1",
            "f.yaml: line 2, column 1: a second document begins; keep one of them",
        ),
        (
            "f.yaml",
            "a: 2026-11-30\nb: [.inf]",
            (
                "2 problem(s) in f.yaml:\n"
                "  - line 1: a: is a date or a time; put quotes around it\n"
                "  - line 2: b.0: must be a finite number"
            ),
        ),
        (
            "f.yaml",
            "a: 2026-99-99",
            (
                "f.yaml: line 1, column 4: is no number or date that exists; "
                "put quotes around it if it is a text"
            ),
        ),
        (
            "f.yaml",
            f"a: {DIGITS}",
            (
                "f.yaml: line 1, column 4: is no number or date that exists; "
                "put quotes around it if it is a text"
            ),
        ),
        (
            "f.yaml",
            "a: &a [*a]",
            "f.yaml: line 1, column 8: an alias (`*`) without an anchor (`&`) before it",
        ),
        ("f.yaml", "a: " + "[" * 200, f"f.yaml: line 1, column 104: {NESTED}"),
        ("f.yaml", "- " * 10_000, f"f.yaml: line 1, column 203: {NESTED}"),
        ("f.yaml", LAUGHS, "f.yaml: stands for more than 500000 values; make it smaller"),
        (
            "f.yaml",
            "b0: &b0 []\n" + "".join(f"b{n}: &b{n} [*b{n - 1}]\n" for n in range(1, 200)),
            f"f.yaml: {NESTED}",
        ),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place_and_the_cure(
    tmp_path: Path, name: str, content: str | bytes, told: str
) -> None:
    assert refusal(tmp_path / name, content) == told


@pytest.mark.parametrize("text", ['{"a": 1,\n}', '{"a": [1,\n]}'])
def test_a_trailing_comma_of_json_is_told(tmp_path: Path, text: str) -> None:
    told = refusal(tmp_path / "f.json", text)
    # Which of the two lines is told depends on the version of Python.
    assert told.endswith(": a trailing comma; remove the comma before the closing bracket")


def test_a_file_that_is_not_there_or_is_no_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read_document(tmp_path / "none.yaml")
    cure = "create it, or give the path of the file that you mean"
    assert str(caught.value) == f"there is no file {str(tmp_path / 'none.yaml')!r}; {cure}"
    (tmp_path / "f.json").mkdir()
    with pytest.raises(ConfigurationError, match=r"f\.json' cannot be read: Is a directory"):
        read_document(tmp_path / "f.json")
    with pytest.raises(ConfigurationError, match="cannot be read: embedded null byte"):
        read_document("\0.json")


def test_without_pyyaml_yaml_is_refused_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    monkeypatch.delitem(sys.modules, "deferred_tools.documents.yaml_document", raising=False)
    assert refusal(tmp_path / "f.yaml", "a: 1") == (
        'f.yaml: PyYAML is not installed; run `pip install "deferred-tools[yaml]"`, '
        "or write TOML or JSON"
    )


def test_importing_the_package_does_not_load_pyyaml() -> None:
    code = "import sys, deferred_tools.documents.reading; sys.exit('yaml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@given(st.text(alphabet="ab1:-?&*![]{},#|>'\"\n \t.=<%@\\", max_size=60) | st.binary(max_size=40))
def test_any_file_is_a_mapping_or_a_configuration_error(
    tmp_path_factory: pytest.TempPathFactory, content: str | bytes
) -> None:
    folder = tmp_path_factory.mktemp("documents")
    for name in ("f.json", "f.toml", "f.yaml"):
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        try:
            document, _ = read_document(folder / name)
        except ConfigurationError:
            continue
        assert isinstance(document, dict)
