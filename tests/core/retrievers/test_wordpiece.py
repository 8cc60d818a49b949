"""Word pieces as the tokenizer of the models gives them: the right values are its own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deferred_tools.retrievers.wordpiece import UNKNOWN, WordPieces, read_word_pieces

PIECES = read_word_pieces()
BY_NUMBER = {number: piece for piece, number in PIECES.numbers.items()}


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("Create an issue in a repository.", "create an issue in a repository ."),
        ("getUser2FA: $5 + 10% (e-mail)", "get ##user ##2 ##fa : $ 5 + 10 % ( e - mail )"),
        ("supercalifragilistic", "super ##cal ##if ##rag ##ilis ##tic"),
        ("Café naïve ÅNGSTRÖM İstanbul ß", "cafe naive ang ##strom istanbul ß"),
        ("\tzero\x00width\u200bspace\u3000end\ufffd", "zero ##wi ##dt ##hs ##pace end"),
        ("漢字かな交じり文 検索", "漢 [UNK] か ##な [UNK] し ##り 文 [UNK] [UNK]"),
        ("날씨 예보", "ᄂ ##ᅡ ##ᆯ ##ᄊ ##ᅵ [UNK]"),
        ("ΩΔ\u03a3", "ω ##δ ##\u03c3"),
        ("ﬁle ① ½", "ﬁ ##le [UNK] ½"),
        ("emoji 🎉 done", "em ##oj ##i [UNK] done"),
        ("𠀀豈\ufe4f", "[UNK] [UNK] [UNK]"),
        ("x" * 101, "[UNK]"),
        ("  \n", ""),
        ("", ""),
    ],
)
def test_text_becomes_the_pieces_that_the_models_were_trained_on(text: str, pieces: str) -> None:
    assert [BY_NUMBER[number] for number in PIECES(text)] == pieces.split()


def test_a_special_piece_in_a_text_is_text() -> None:
    assert [BY_NUMBER[number] for number in PIECES("[SEP]")] == ["[", "sep", "]"]


def test_the_packaged_vocabulary_is_whole() -> None:
    assert len(PIECES.numbers) == 30_522
    assert (PIECES.numbers["[PAD]"], PIECES.numbers["[UNK]"]) == (0, 100)
    assert (PIECES.numbers["[CLS]"], PIECES.numbers["[SEP]"]) == (101, 102)


def test_a_vocabulary_without_the_unknown_is_refused() -> None:
    with pytest.raises(ValueError, match="UNK"):
        WordPieces(["a", "##b"])


@given(st.text(max_size=200))
def test_any_text_gives_known_pieces_and_always_the_same(text: str) -> None:
    numbers = PIECES(text)
    assert set(numbers) <= BY_NUMBER.keys()
    assert read_again(text) == numbers


@given(st.text(st.characters(categories=["Ll", "Lu", "Nd"], max_codepoint=0x24F), min_size=1))
def test_a_word_that_can_be_spelt_is_spelt_in_full(word: str) -> None:
    pieces = [BY_NUMBER[number].removeprefix("##") for number in PIECES(word)]
    assert UNKNOWN in pieces or len("".join(pieces)) <= 2 * len(word)


def read_again(text: str) -> list[int]:
    return WordPieces(list(PIECES.numbers))(text)
