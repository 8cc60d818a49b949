"""Tools that say nearly the same."""

from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.lint.duplicates import SAME, check
from deferred_tools.lint.finding import Finding
from deferred_tools.retrievers.text import Analyser
from deferred_tools.spec import ToolSpec

LONG = (
    "Return all comments of one post with author, date, language, replies, votes, edits, marks, "
    "badges, pictures, links, topics, place, device, score, thread, owner and length"
)
WORDS = [f"{letter}{letter}" for letter in "bcdfghjklmnp"]


def found(*tools: tuple[str, str], source: str = "s") -> list[Finding]:
    return list(
        check([ToolSpec(source=source, tool=tool, description=text) for tool, text in tools])
    )


def test_the_same_tool_of_two_servers_is_a_duplicate() -> None:
    specs = [ToolSpec(source=source, tool="fetch", description=LONG) for source in ("a", "b")]
    (finding,) = check(specs)
    assert (finding.name, finding.others) == ("a__fetch", ("b__fetch",))
    assert finding.problem == "'b__fetch' shares all words"


def test_one_word_of_many_makes_a_near_duplicate_and_is_told() -> None:
    (finding,) = found(("comments_new", LONG), ("comments_new", LONG.replace("date", "time")))
    assert finding.problem == "'s__comments_new' shares all words but 'date', 'time'"


def test_different_tools_are_none() -> None:
    assert found(("send", "Send a letter"), ("find", "Find a letter"), ("now", "")) == []


def test_a_group_is_one_finding() -> None:
    (finding,) = found(*((f"comments_{way}", LONG) for way in ("new", "old", "top", "hot")))
    assert finding.others == ("s__comments_old", "s__comments_top", "s__comments_hot")
    assert finding.problem.endswith("but 'new', 'old', and nearly so 2 more")


def test_what_no_other_tool_can_be_near_costs_no_comparison_of_pairs() -> None:
    tools = [
        (f"tool{number}", f"{LONG} {number} of x{number} by y{number}") for number in range(3_000)
    ]
    assert found(*tools) == []


@given(st.lists(st.lists(st.sampled_from(WORDS), max_size=12), max_size=12))
def test_every_tool_is_in_one_group_or_unlike_every_first_of_one(said: list[list[str]]) -> None:
    tools = [(f"t{number}", " ".join(words)) for number, words in enumerate(said)]
    groups = found(*tools)
    stems = Analyser().stems
    words = {f"s__{tool}": set(stems(f"{tool} {text}")) for tool, text in tools}
    later = [name for group in groups for name in group.others]
    assert len(later) == len(set(later))

    def same(one: str, other: str) -> float:
        return len(words[one] & words[other]) / len(words[one] | words[other])

    assert all(same(group.name, name) >= SAME for group in groups for name in group.others)
    firsts = [name for name in words if name not in later]
    assert all(same(one, other) < SAME for one in firsts for other in firsts if one != other)
