"""What commands print of texts that are data."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from deferred_tools.cli.output import show_rows, show_text

STEERING = {"Cc", "Cs"}


def printed(capsys: pytest.CaptureFixture[str], text: str) -> str:
    show_text(text)
    return capsys.readouterr().out


@pytest.mark.parametrize(
    "text",
    ["", "one\n\ttwo", "[bold]no mark-up[/bold]", "❤️ 👩‍🚀 می‌خواهم", "naïve, Ελληνικά, 中文"],
)
def test_a_text_is_printed_as_it_is(capsys: pytest.CaptureFixture[str], text: str) -> None:
    assert printed(capsys, text) == text + "\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2J", "\\x1b[2J"),
        ("a\r\nb\rc", "a\nb\\rc"),
        ("\u202eabc", "\\u202eabc"),
        ("a\u200db\ufe0f", "a\\u200db\\ufe0f"),
        ("\U000e0041", "\\U000e0041"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_steers_a_terminal_or_hides_is_escaped(
    capsys: pytest.CaptureFixture[str], text: str, shown: str
) -> None:
    assert printed(capsys, text) == shown + "\n"


def test_rows_are_lined_up_by_what_is_seen(capsys: pytest.CaptureFixture[str]) -> None:
    show_rows("Things", ("name", "what"), [["中文", "two [red]wide\x1b[0m"], ["abc", ""]])
    title, head, *rows = capsys.readouterr().out.splitlines()
    assert (title, head) == ("Things", "name  what")
    assert rows == ["中文  two [red]wide[0m", "abc", ""]


def test_one_long_cell_does_not_push_all_others_away(capsys: pytest.CaptureFixture[str]) -> None:
    show_rows("", ("name", "what"), [["x" * 100, "y"], ["a", "b"]])
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == "x" * 100 + "  y"
    assert cell_len(lines[3]) == 63


@given(st.lists(st.lists(st.text(), min_size=2, max_size=2), max_size=4))
def test_every_row_is_one_line_whatever_is_in_it(rows: list[list[str]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        lines: list[str] = []
        patch.setattr("typer.echo", lines.append)
        show_rows("t", ("a", "b"), rows)
    body = lines[-1].split("\n")
    assert len(body) == len(rows) + 1
    assert not any(unicodedata.category(sign) in STEERING for line in body for sign in line)
