"""The table of abbreviations and related words."""

from deferred_tools.retrievers import synonyms


def test_the_synonyms_are_symmetric_and_no_word_is_its_own() -> None:
    groups = synonyms.read(lambda word: word)
    assert groups["pull", "request"]["pr"] > 0.5
    assert 0 < groups["pr",]["pull"] < groups["pull", "request"]["pr"]
    for member, others in groups.items():
        if len(member) == 1:
            assert member[0] not in others
        assert len(member) <= synonyms.LONGEST
        assert all(0 < weight < 1 for weight in others.values())
