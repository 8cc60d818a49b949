"""The level-1 block, `<available_tools>`: escaped, within a token budget, byte-stable.

Pure: summaries in, text out; the same summaries give the same bytes in every process. Text
from a server is data: no description can close the block, open another or add a line.
"""

import re
from collections.abc import Callable, Sequence
from html import escape

from deferred_tools.spec import ToolSummary, one_line

_NEXT = (
    "Before using a tool above, call `tool_search` with what you need to do to enable it "
    "in this conversation."
)
_MORE = (
    "Not every tool is listed above: a `server` line stands for all tools of that server. "
    "Call `tool_search` with what you need to do to find and enable tools in this conversation."
)
_WHOLE = 4_000
_SHORT = 60

_PIECE = re.compile(
    r"[A-Za-z][a-z]{0,5}|[0-9]{1,3}|\n|[^\sA-Za-z0-9\x80-\U0010ffff]{1,2}|[^\x00-\x7f]"
)
_ACCENTED = re.compile("[\x80-\u024f]")
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")

CountTokens = Callable[[str], int]


def estimate_tokens(text: str) -> int:
    """Tokens of `text`, estimated on the high side without a tokenizer.

    Counts pieces that tokenizers hardly ever split further: up to six letters of a word, three
    digits, two marks, one other character; an accented letter counts for two, a character
    outside the basic plane for four.
    """
    pieces = len(_PIECE.findall(text))
    if text.isascii():
        return pieces
    return pieces + len(_ACCENTED.findall(text)) + 3 * len(_ASTRAL.findall(text))


def render(
    tools: Sequence[ToolSummary], *, budget: int, count_tokens: CountTokens = estimate_tokens
) -> str:
    """The block for `tools`, in their order, in at most `budget` tokens; "" for no tools.

    What does not fit is shortened in steps, always in the same way: whole lines, shorter
    lines, bare names, then server by server (the largest first) a count instead of names.
    """
    if not tools:
        return ""
    names = _block([_line(tool, 0) for tool in tools], _NEXT)
    if count_tokens(names) > budget:  # asked first: it is where large catalogues end
        return _collapsed(tools, budget, count_tokens)
    for cut in (_WHOLE, _SHORT):
        block = _block([_line(tool, cut) for tool in tools], _NEXT)
        if count_tokens(block) <= budget:
            return block
    return names


def _collapsed(tools: Sequence[ToolSummary], budget: int, count_tokens: CountTokens) -> str:
    """Names, with as many servers as needed (the largest first) reduced to name and count."""
    by_source: dict[str, list[ToolSummary]] = {}
    for tool in tools:
        by_source.setdefault(tool.source, []).append(tool)
    largest_first = sorted(by_source, key=lambda name: (-len(by_source[name]), name))
    lines = {name: [_line(tool, 0) for tool in of] for name, of in by_source.items()}
    # Each line costs the same wherever it stands, so the block is counted once in parts.
    cost = {name: sum(count_tokens(line + "\n") for line in of) for name, of in lines.items()}
    total = sum(cost.values()) + count_tokens(_block([], _MORE))
    for name in largest_first:
        if total <= budget:
            break
        lines[name] = [_server_line(name, len(by_source[name]))]
        total += count_tokens(lines[name][0] + "\n") - cost[name]
    if total > budget:
        return _servers_only(largest_first, by_source, budget, count_tokens)
    return _block([line for of in lines.values() for line in of], _MORE)


def _servers_only(
    largest_first: Sequence[str],
    by_source: dict[str, list[ToolSummary]],
    budget: int,
    count_tokens: CountTokens,
) -> str:
    """As many server lines as fit, the largest servers first, and one line for the rest."""
    left = budget - count_tokens(_block([_rest_line(10**9, 10**9)], _MORE))
    shown: list[str] = []
    for name in largest_first:
        line = _server_line(name, len(by_source[name]))
        left -= count_tokens(line + "\n")
        if left < 0:
            break
        shown.append(line)
    rest = largest_first[len(shown) :]
    if rest:
        shown.append(_rest_line(len(rest), sum(len(by_source[name]) for name in rest)))
    return _block(shown, _MORE)


def _block(lines: Sequence[str], instruction: str) -> str:
    body = "".join(f"{line}\n" for line in lines)
    return f"<available_tools>\n{body}</available_tools>\n\n{instruction}"


def _line(tool: ToolSummary, cut: int) -> str:
    text = one_line(tool.description, cut) if cut else ""
    if not text:
        return f'  <tool name="{_name(tool.name)}"/>'
    return f'  <tool name="{_name(tool.name)}">{escape(text, quote=False)}</tool>'


def _server_line(name: str, count: int) -> str:
    return f'  <server name="{_name(name)}" tools="{count}"/>'


def _name(text: str) -> str:
    # A registry's names are safe as they are; a catalogue may be made of anything.
    return escape(one_line(text, _WHOLE))


def _rest_line(servers: int, tools: int) -> str:
    return f'  <more servers="{servers}" tools="{tools}"/>'
