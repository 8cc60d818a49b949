"""Level 1: the first sentence that says something and tells a tool from others of its source."""

import gzip
import json
import re
import time
from collections import defaultdict
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools import (
    Caller,
    Grant,
    Grants,
    Limits,
    ToolCatalog,
    ToolIndex,
    Toolset,
    ToolSpec,
)
from deferred_tools.session import Session
from deferred_tools.summaries import summaries
from deferred_tools.testing.sources import ScriptedSource, ScriptedTool, ready
from tests.support.shared import shared_folder

LIMITS = Limits()
WORDS = "Lists issues. ~Sends mail. ~e.g. ~<b>~</b>~[DEPRECATED] ~🎯 ~- ~课题。~x~v1.2 ~**~|~\ud800"
BREAKS = ("\n", "\n\n", "# Title\n", "Args:\n", "a: b\n", "```\n", "\u202e")
PIECES = st.sampled_from([*WORDS.split("~"), *BREAKS])
TEXTS = st.lists(PIECES, max_size=12).map("".join) | st.text(max_size=60)


def lines(*descriptions: str, titles: Sequence[str] = (), length: int = 200) -> list[str]:
    """The lines of tools of one source."""
    specs = [
        ToolSpec(source="s", tool=f"t{n}", description=text, title=titles[n] if titles else "")
        for n, text in enumerate(descriptions)
    ]
    return [tool.description for tool in summaries(specs, Limits(summary_length=length))]


@pytest.mark.parametrize(
    ("description", "line"),
    [
        ("", ""),
        ("Search", "Search"),
        ("Lists issues. Returns a page.", "Lists issues."),
        ("Lists the issues of\na repository.\nFast.", "Lists the issues of a repository."),
        ("Read company profile data\nThis can be cached", "Read company profile data"),
        ("Get the metrics\n\nMetrics are numbers", "Get the metrics"),
        # mark-up
        ("<Purpose>\nLoads the guide. More.\n</Purpose>", "Loads the guide."),
        ("<Purpose>Loads the guide</Purpose>", "Loads the guide"),
        ("<b>Loads</b> the guide.\nUse <b>it</b>.", "Loads the guide."),
        ("<instructions>\nGet entities\n</instructions>\n<parameters>\nx: y", "Get entities"),
        ("# Send mail\n\nSends one mail. Fast.", "Sends one mail."),
        ("## Send mail", "Send mail"),
        ("**Sends** one [mail](https://a.example/b(c)", "Sends one [mail](https://a.example/b(c)"),
        ("**Sends** one [mail](https://a.example/b).", "Sends one mail."),
        ("- Sends one mail\n- Or two", "Sends one mail"),
        ("```json\n{}\n```\nSends one mail.", "Sends one mail."),
        ("| a | b |\n|---|---|\nSends one mail.", "Sends one mail."),
        ("Read `a.b` of <id> now.", "Read `a.b` of <id> now."),
        # emoji, labels
        ("🚨 List incidents now.", "List incidents now."),
        ("🛡️ Guardrails:\n 1. Asks before.\n\n🎯 Purpose:\n 1. Creates a note.", "Creates a note."),
        ("Purpose: creates a note. More.", "creates a note."),
        ("Args:\n  name: who to greet\n", "name: who to greet"),
        ("IMPORTANT: read this first.\n\nCreates a note.", "Creates a note."),
        (
            "Example cURL request:\n\n```\ncurl x\n```\n\nThe response will be a list:\n",
            "The response will be a list",
        ),
        ("Create a new deployment:\n\nExample cURL request:", "Create a new deployment"),
        # marks
        ("[DEPRECATED] Lists issues. Old.", "[DEPRECATED] Lists issues."),
        ("⚠️ DEPRECATED：此工具已废弃。", "[DEPRECATED] 此工具已废弃。"),  # noqa: RUF001  # Chinese marks are meant  # as it is
        ("**This endpoint is deprecated.**\n\nMerges a fork.", "[deprecated] Merges a fork."),
        ("(Beta) Lists issues.", "[Beta] Lists issues."),
        ("[Lark/Docs]-Wiki-Search all nodes", "[Lark/Docs]-Wiki-Search all nodes"),
        # where sentences end
        (
            "Sends text, e.g. HTML, vs. PDF, i.e. a page. A.",
            "Sends text, e.g. HTML, vs. PDF, i.e. a page.",
        ),
        ("Uses v1.2.3 of the API (cf. RFC 12). More.", "Uses v1.2.3 of the API (cf. RFC 12)."),
        ("Reads a page https://a.example/x?y=1. More.", "Reads a page https://a.example/x?y=1."),
        ("Runs Node.js or .NET code! Fast.", "Runs Node.js or .NET code!"),
        ("Lists files, dirs, etc. in a tree. More.", "Lists files, dirs, etc. in a tree."),
        ("Steps: 1. ask the user 2. send it. More.", "Steps: 1. ask the user 2. send it."),
        ("Says so (to you.) Then more.", "Says so (to you.)"),
        ("查询数据库。支持分页。", "查询数据库。"),
        ("कार्य की सूची देता है। और भी।", "कार्य की सूची देता है।"),
    ],
)
def test_a_line_is_the_first_sentence_that_says_something(description: str, line: str) -> None:
    assert lines(description) == [line]


def test_a_sentence_that_tools_of_a_source_share_is_passed_over() -> None:
    shared = "This is the API. "
    assert lines(shared + "Lists calls. Old.", shared + "Sends mail.") == [
        "Lists calls.",
        "Sends mail.",
    ]


def test_a_mark_stays_before_the_sentence_that_differs() -> None:
    old = "[DEPRECATED] Use forms instead. "
    assert lines(old + "Lists fields.", old + "Adds a field.") == [
        "[DEPRECATED] Lists fields.",
        "[DEPRECATED] Adds a field.",
    ]


def test_a_shared_sentence_is_left_to_the_tool_that_has_no_other() -> None:
    assert lines("Lists calls.", "Lists calls. Only yours.") == ["Lists calls.", "Only yours."]


def test_tools_without_a_sentence_of_their_own_show_their_titles() -> None:
    told = ("Lists calls.", "Lists calls.")
    assert lines(*told, titles=("All calls", "My calls")) == ["All calls", "My calls"]
    assert lines("", titles=("All calls",)) == ["All calls"]


def test_a_title_that_spells_the_name_is_none() -> None:
    assert lines("", titles=("T 0",)) == [""]


def test_tools_that_say_the_same_have_the_same_line() -> None:
    assert lines("Lists calls.", "Lists calls.") == ["Lists calls.", "Lists calls."]


def test_tools_that_nothing_tells_apart_have_no_line() -> None:
    assert lines("Lists calls.", "Lists calls. ", "Sends mail.") == ["", "", "Sends mail."]


def test_sentences_that_differ_only_where_they_are_cut_are_the_same() -> None:
    long = "word " * 50
    assert lines(long + "one. Lists calls.", long + "two. Sends mail.") == [
        "Lists calls.",
        "Sends mail.",
    ]


def test_another_source_changes_no_line() -> None:
    here = [ToolSpec(source="a", tool="x", description="Lists calls. Mine.")]
    there = [ToolSpec(source="b", tool="y", description="Lists calls. Yours.")]
    assert summaries([*here, *there], LIMITS)[:1] == summaries(here, LIMITS)


def test_every_view_of_a_caller_shows_the_same_line() -> None:
    tools = (ScriptedTool("one", "The API. Lists calls."), ScriptedTool("two", "The API. Mails."))
    with Toolset([ScriptedSource("s", ready(*tools))]) as toolset:
        root = Caller.root()
        found = toolset.search(Session(caller=root), {"names": ["s__one"]}).enabled
        assert ">Lists calls.</tool>" in toolset.prompt(root)
        assert [tool.description for tool in found] == ["Lists calls."]
        assert toolset.catalog(root).subset(["s__one"]) == found
        index = ToolIndex.from_tools(toolset.registry.specs)
        assert index.search("s__one") == found


def test_a_line_tells_nothing_of_tools_that_the_caller_may_not_see() -> None:
    one, two = ScriptedTool("one", "The API. Lists calls."), ScriptedTool("two", "The API. Mails.")
    eve, rules = Caller.principal("eve"), [Grants([Grant(tools=("s__one",))])]
    with (
        Toolset([ScriptedSource("s", ready(one, two))], policies=rules) as both,
        Toolset([ScriptedSource("s", ready(one))], policies=rules) as alone,
    ):
        asked = {"names": ["s__one"]}
        session = Session(caller=eve)
        assert both.prompt(eve) == alone.prompt(eve)
        assert both.search(session, asked).text == alone.search(session, asked).text
        assert both.catalog(eve).all() == alone.catalog(eve).all()


@given(st.lists(TEXTS, max_size=8), st.integers(1, 60))
def test_any_texts_have_lines_that_are_short_and_told_apart(texts: list[str], length: int) -> None:
    found = lines(*texts, length=length)
    by_line: dict[str, set[str]] = defaultdict(set)
    for text, line in zip(texts, found, strict=True):
        assert len(line) <= length
        assert len(line.splitlines()) <= 1
        assert line.isprintable()
        by_line[line].add(text)
    assert all(len(said) == 1 for line, said in by_line.items() if line)


@given(st.lists(TEXTS, max_size=8))
def test_the_order_of_tools_changes_no_line(texts: list[str]) -> None:
    assert lines(*texts[::-1])[::-1] == lines(*texts)


@given(TEXTS)
def test_a_tool_alone_says_something_if_its_description_has_words(text: str) -> None:
    assert lines(text)[0] or not re.search(r"[a-z]{3}", text)


@pytest.mark.parametrize("hostile", ["<a>", "e.g. ", "[", "**", "a:", "- ", "```\n", ". ", "a. A"])
def test_no_text_is_slow_to_read(hostile: str) -> None:
    texts = [f"{hostile * 5_000}{n}" for n in range(20)]
    before = time.process_time()
    lines(*texts)
    assert time.process_time() - before < 1


def test_of_real_tools_every_line_says_something_and_is_told_apart() -> None:
    path = shared_folder() / "corpus" / "mcp_tools.jsonl.gz"
    if not path.exists():
        pytest.skip(f"no corpus at {path}")
    with gzip.open(path, "rt", encoding="utf-8") as file:
        tools = [json.loads(line) for line in file]
    specs = [
        ToolSpec(source=t["server"], tool=t["name"], description=t.get("description") or "")
        for t in tools
    ]
    found = ToolCatalog(lambda: specs).all()
    said: dict[tuple[str, str], set[str]] = defaultdict(set)
    for spec, tool in zip(specs, found, strict=True):
        assert tool.description or not re.search(r"\w", spec.description), spec.id
        assert not re.match(r"</?[A-Za-z][^<>]*>|[#*|>]|```", tool.description), tool
        assert len(tool.description) <= LIMITS.summary_length
        said[tool.source, tool.description].add(spec.description.strip())
    assert [tool for tool, descriptions in said.items() if len(descriptions) > 1] == []
