"""Level 1: lazy, in order, memoised; work under way keeps its snapshot."""

from collections.abc import Iterable, Sequence

import pytest

from deferred_tools import Limits, ToolCatalog, ToolSpec


def spec(name: str, description: str = "") -> ToolSpec:
    return ToolSpec(source="s", tool=name, name=name, description=description)


class Loader:
    """Gives its specs and counts how often."""

    def __init__(self, *specs: ToolSpec) -> None:
        self.specs: Sequence[ToolSpec] = specs
        self.loads = 0

    def __call__(self) -> Iterable[ToolSpec]:
        self.loads += 1
        return iter(self.specs)


LOADER = (spec("zip", "Pack files."), spec("mail", "Send mail."), spec("unzip", "Unpack files."))


def test_nothing_is_loaded_before_the_first_query_and_then_once() -> None:
    load = Loader(*LOADER)
    catalog = ToolCatalog(load)
    assert load.loads == 0
    catalog.all()
    catalog.search("mail")
    catalog.subset(["mail"])
    catalog.format_for_prompt()
    assert catalog.fingerprint
    assert load.loads == 1


def test_all_is_in_registration_order_with_one_line_each() -> None:
    catalog = ToolCatalog(Loader(spec("b", "One.\nTwo."), spec("a")))
    assert [(s.name, s.description) for s in catalog.all()] == [("b", "One."), ("a", "")]


def test_a_subset_keeps_the_order_and_drops_unknown_names() -> None:
    catalog = ToolCatalog(Loader(*LOADER))
    assert [s.name for s in catalog.subset(["unzip", "none", "zip"])] == ["zip", "unzip"]
    assert catalog.subset([]) == ()


def test_a_search_finds_within_what_is_allowed() -> None:
    catalog = ToolCatalog(Loader(*LOADER))
    assert {s.name for s in catalog.search("files")} == {"zip", "unzip"}
    assert [s.name for s in catalog.search("files", within=["unzip", "mail"])] == ["unzip"]
    assert catalog.search("files", within=[]) == ()


@pytest.mark.parametrize("limit", [0, 1, 2, 3])
def test_a_search_finds_at_most_the_limit(limit: int) -> None:
    assert len(ToolCatalog(Loader(*LOADER)).search("files", limit=limit)) == min(limit, 2)


@pytest.mark.parametrize("query", ["", " ", "zzqx vlorp"])
def test_a_query_without_a_match_finds_nothing(query: str) -> None:
    assert ToolCatalog(Loader(*LOADER)).search(query) == ()


def test_an_empty_catalogue_is_one_too() -> None:
    catalog = ToolCatalog(Loader())
    assert catalog.all() == catalog.search("mail") == catalog.subset(["mail"]) == ()
    assert catalog.format_for_prompt() == ""


def test_what_the_loader_raises_goes_through_and_the_next_query_tries_again() -> None:
    ready = False

    def load() -> Iterable[ToolSpec]:
        if not ready:
            raise OSError("not yet")
        return [spec("a")]

    catalog = ToolCatalog(load)
    with pytest.raises(OSError, match="not yet"):
        catalog.all()
    ready = True
    assert [s.name for s in catalog.all()] == ["a"]


def test_a_reload_sees_new_tools_and_work_under_way_keeps_its_snapshot() -> None:
    load = Loader(spec("a"))
    catalog = ToolCatalog(load)
    before, print_before = catalog.all(), catalog.fingerprint
    load.specs = (spec("a"), spec("b"))
    assert catalog.all() == before
    assert catalog.reload() is catalog
    assert [s.name for s in catalog.all()] == ["a", "b"]
    assert [s.name for s in catalog.search("b")] == ["b"]
    assert [s.name for s in before] == ["a"]
    assert catalog.fingerprint != print_before


def test_a_reload_that_fails_leaves_the_catalogue_as_it_was() -> None:
    specs: list[ToolSpec] | None = [spec("a")]

    def load() -> Iterable[ToolSpec]:
        if specs is None:
            raise OSError("gone")
        return specs

    catalog = ToolCatalog(load)
    before = catalog.all()
    specs = None
    with pytest.raises(OSError, match="gone"):
        catalog.reload()
    assert catalog.all() == before


def test_equal_catalogues_have_equal_fingerprints() -> None:
    one, two = ToolCatalog(Loader(*LOADER)), ToolCatalog(Loader(*LOADER))
    assert one.fingerprint == two.fingerprint
    assert ToolCatalog(Loader(*LOADER[::-1])).fingerprint != one.fingerprint
    assert ToolCatalog(Loader(spec("zip"), *LOADER[1:])).fingerprint != one.fingerprint


def test_the_prompt_block_is_of_all_or_of_some_within_the_budget() -> None:
    catalog = ToolCatalog(Loader(*LOADER))
    assert '<tool name="mail">Send mail.</tool>' in catalog.format_for_prompt()
    assert "mail" not in catalog.format_for_prompt(catalog.subset(["zip"]))
    assert catalog.format_for_prompt([]) == ""
    tight = Limits(prompt_tokens=75)
    assert "Send mail" not in ToolCatalog(Loader(*LOADER), limits=tight).format_for_prompt()
    counted = ToolCatalog(Loader(*LOADER), limits=tight, count_tokens=lambda _: 1)
    assert "Send mail" in counted.format_for_prompt()
