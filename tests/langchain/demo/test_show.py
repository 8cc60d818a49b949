"""What is printed: text from servers and models stays text."""

import io

from langchain_core.messages import AIMessage, ToolMessage
from rich.console import Console

from langchain_deferred_tools.demo import show
from langchain_deferred_tools.demo.agent import Surface


def printed(message: AIMessage | ToolMessage, surface: Surface | None = None) -> str:
    """What a message looks like, 60 columns wide."""
    file = io.StringIO()
    show.message(Console(file=file, width=60, highlight=False), message, surface)
    return file.getvalue()


def test_a_result_is_neither_mark_up_nor_control_codes() -> None:
    hostile = "[red]bold[/red] \x1b[2J\x07 \u202egone\nsecond line"
    shown = printed(ToolMessage(hostile, name="evil", tool_call_id="1"))
    assert "[red]bold[/red] [2J gone\n" in shown
    assert not {"\x1b", "\x07", "\u202e"} & set(shown)


def test_a_long_result_is_cut_and_says_so() -> None:
    long = "\n".join(f"line {at}" for at in range(20))
    assert "… 14 more lines" in printed(ToolMessage(long, name="log", tool_call_id="1"))


def test_json_takes_one_line() -> None:
    shown = printed(ToolMessage('{\n  "a": 1\n}', name="get", tool_call_id="1"))
    assert shown == 'result  get answers: {"a": 1}\n'


def test_a_models_message_shows_what_was_bound_and_what_it_calls() -> None:
    call = {"name": "add", "args": {"a": 1, "b": "two"}, "id": "1", "type": "tool_call"}
    message = AIMessage("", tool_calls=[call])
    assert printed(message, Surface(bound=("tool_search", "add"), tokens=1)) == (
        'bound   2: tool_search, add\nmodel   add(a=1, b="two")\n'
    )
