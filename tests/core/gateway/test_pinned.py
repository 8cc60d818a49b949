"""What pins stand for, and what is wrong with them."""

from typing import Any

from deferred_tools.gateway.pinned import Chosen, Pin, choose
from tests.core.building.parts import away, build, server
from tests.support.gateway import pin


def chosen(*pins: str, settings: dict[str, Any] | None = None) -> Chosen:
    registry = build(
        settings or {},
        server("mail", "send", "read", "search_tools"),
        server("post", "send", "a/b"),
        away("down", "late"),
    )
    return choose(registry, [pin(text) for text in pins])


def test_a_pinned_tool_goes_by_its_own_name() -> None:
    found = chosen("mail/send", "post/a/b", "down/late")
    names = {name: entry.spec.name for name, entry in found.tools.items()}
    assert names == {"send": "mail__send", "a/b": "post__a_b", "late": "down__late"}
    assert (found.problems, found.warnings) == ((), ())


def test_a_source_with_a_namespace_of_the_settings_keeps_its_name_here() -> None:
    found = chosen("mail/send", settings={"servers": {"mail": {"namespace": "m"}}})
    assert found.tools["send"].spec.name == "m__send"


def test_a_tool_that_is_pinned_twice_is_one() -> None:
    assert chosen("mail/send", "mail/send").problems == ()


def test_every_mistake_is_told_with_its_place() -> None:
    found = chosen("mial/send", "mail/sned", "mail/send", "post/send", "mail/search_tools")
    assert list(found.tools) == ["send"]
    assert found.problems == (
        "here: no server 'mial' is declared; did you mean 'mail'?",
        "here: the server 'mail' offers no tool 'sned'; did you mean 'send'?",
        (
            "here: 'send' of 'post' is ambiguous: clients see the same name of mail/send; "
            "pin only one of them"
        ),
        (
            "here: 'search_tools' of 'mail' is ambiguous: clients see the same name of "
            "the gateway's own; pin only one of them"
        ),
    )


def test_a_tool_that_may_yet_come_is_a_warning() -> None:
    found = chosen("down/later")
    assert found.problems == ()
    assert found.warnings == ("here: 'later' is not there at present: 'down' is unavailable",)


def test_a_tool_that_is_both_pinned_and_disabled_is_a_mistake() -> None:
    found = chosen("mail/send", settings={"disabled": ["mail__send"]})
    assert found.problems == (
        "here: 'send' of 'mail' is pinned, and it was switched off by the host",
    )


def test_a_contract_can_be_pinned_and_one_without_implementation_is_a_warning() -> None:
    contracts = {"coded": {"implementation": "json:dumps"}, "open": {}}
    found = chosen("contracts/coded", "contracts/open", settings={"contracts": contracts})
    assert list(found.tools) == ["coded"]
    assert found.problems == ()
    assert len(found.warnings) == 1


def test_a_pin_knows_server_tool_and_place() -> None:
    assert pin("mail/a/b") == Pin("mail", "a/b", "here")
