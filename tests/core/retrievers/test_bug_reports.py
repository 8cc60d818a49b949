"""What went wrong in other tool searches, and must not here."""

import pytest

from deferred_tools import ToolSpec
from deferred_tools.retrievers.bm25 import BM25Retriever


def ranked(specs: list[ToolSpec], query: str, k: int = 10) -> list[str]:
    retriever = BM25Retriever()
    retriever.index(specs)
    return [hit.name for hit in retriever.search(query, k)]


def named(**tools: str) -> list[ToolSpec]:
    return [
        ToolSpec(source="s", tool=tool, name=tool, description=description)
        for tool, description in tools.items()
    ]


@pytest.mark.parametrize("query", ["addPerson", "add person", "addPerson_mcp_crm", "addperson"])
def test_a_camel_case_name_is_found_and_its_full_id_is_not_a_siblings(query: str) -> None:
    crm = [
        ToolSpec(source="crm", tool=tool, name=f"{tool}_mcp_crm", description="For the CRM.")
        for tool in ("addActivity", "addPerson", "listDeals")
    ]
    assert ranked(crm, query)[0] == "addPerson_mcp_crm"


def test_an_acronym_in_a_name_is_a_word() -> None:
    tools = named(parseXMLFeed="Reads a feed.", parseDate="Reads a date.")
    assert ranked(tools, "XMLParser")[0] == "parseXMLFeed"


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("create edge", "canvas_create_edge"),
        ("update", "automation_update"),
        ("send e-mail", "mail-send"),
        ("send email", "mail-send"),
    ],
)
def test_the_parts_of_a_name_outweigh_what_parameters_say(query: str, name: str) -> None:
    schema = {
        "properties": {
            "action": {
                "description": "create, update, send: the edge or e-mail to create or update"
            }
        }
    }
    canvas = [
        ToolSpec(
            source="canvas",
            tool=f"canvas_{verb}_{noun}",
            name=f"canvas_{verb}_{noun}",
            description="Draws on the canvas.",
            input_schema=schema,
        )
        for verb in ("move", "select", "style", "group", "delete")
        for noun in ("node", "label", "frame", "layer", "arrow", "page")
    ]
    others = named(
        canvas_create_edge="Connects two nodes.",
        automation_update="Changes an automation.",
        **{"mail-send": "Delivers a message."},
    )
    assert ranked([*canvas, *others], query)[0] == name


CRON = named(
    cron_create="Schedule a recurring task",
    spreadsheet_open="Opens a workbook",
    read_file="Gives what is in a file",
)


def test_inflected_words_are_found() -> None:
    assert ranked(CRON, "scheduling")[0] == "cron_create"
    assert ranked(CRON, "reminders")[0] == "cron_create"


def test_letters_inside_a_longer_word_are_not_a_word() -> None:
    assert ranked(CRON, "read") == ["read_file"]


@pytest.mark.parametrize("query", ["zzqx vlorp", "", "!!!"])
def test_no_match_is_no_answer_rather_than_the_whole_catalogue(query: str) -> None:
    assert ranked(CRON, query) == []


@pytest.mark.parametrize(
    ("tool", "description", "queries"),
    [
        ("laws", "日本の現行の法令を全文で検索します", ["法令", "法令を検索", "find 法令", "法"]),
        ("rules", "按关键词查询现行法律法规的全文", ["法律", "查询法律", "look up 法律"]),
        ("acts", "현행법령을 검색합니다", ["법령", "법령 검색", "search 법령"]),
        ("codes", "ค้นหากฎหมายที่ใช้บังคับอยู่", ["กฎหมาย", "ค้นหากฎหมาย", "find กฎหมาย"]),
    ],
)
def test_a_word_in_a_text_without_spaces_is_found(
    tool: str, description: str, queries: list[str]
) -> None:
    others = named(
        weather="明日の天気を調べます 查询明天的天气 내일 날씨를 봅니다 ดูสภาพอากาศพรุ่งนี้",
        mail="メールを送信します 发送邮件 메일을 보냅니다 ส่งอีเมล",
    )
    for query in queries:
        assert ranked([*others, *named(**{tool: description})], query)[0] == tool


@pytest.mark.parametrize(
    "query",
    ["close the incident and fill in the notes", "show me the errors of the last hour"],
)
def test_a_tool_is_not_first_for_the_small_words_inside_its_own(query: str) -> None:
    verbs, nouns = ("close", "list", "update", "show"), ("incident", "note", "error", "change")
    desk = [
        ToolSpec(
            source="desk",
            tool=f"{verb}_{noun}",
            description=f"To {verb} the {noun} records of the last hour",
        )
        for verb in verbs
        for noun in nouns
    ]
    theme = ToolSpec(
        source="ui",
        tool="theme_manage",
        name="theme_manage",
        description="Manage the theme of the portal, theming and themes",
        aliases=("theme", "theming"),
    )
    found = ranked([theme, *desk], query)
    assert "theme_manage" not in found
    assert found[0].split("_")[-1] in query
