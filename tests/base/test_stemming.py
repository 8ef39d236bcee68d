"""Our stems against NLTK's."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.base.stemming import stem
from tests.conftest import PROJECT

_SUFFIXES = (
    "", "s", "es", "ies", "ied", "ed", "ing", "eed", "y", "ational", "tional", "enci",
    "anci", "izer", "bli", "alli", "entli", "eli", "ousli", "ization", "ation", "ator",
    "alism", "iveness", "fulness", "ousness", "aliti", "iviti", "biliti", "fulli",
    "logi", "logy", "icate", "ative", "alize", "iciti", "ical", "ful", "ness", "al",
    "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion",
    "sion", "tion", "ou", "ism", "ate", "iti", "ous", "ive", "ize", "e", "ll", "lle",
    "at", "bl", "iz",
)  # fmt: skip


@pytest.fixture(scope="module")
def twin():
    from nltk.stem.porter import PorterStemmer

    return PorterStemmer().stem


def test_words_of_the_project_have_the_stems_of_nltk(twin) -> None:
    files = [*PROJECT.glob("docs/**/*.md"), *PROJECT.glob("src/**/*.py")]
    words = {word for file in files for word in _split(file)}
    assert len(words) > 5000
    assert {w: stem(w) for w in words} == {w: twin(w) for w in words}


def _split(file: Path) -> list[str]:
    return "".join(c if c.isalpha() else " " for c in file.read_text()).split()


@given(
    st.text("aeiouybcdlstwxz", max_size=6),
    st.lists(st.sampled_from(_SUFFIXES), max_size=3),
)
def test_any_word_has_the_stem_of_nltk(twin, start: str, suffixes: list[str]) -> None:
    word = start + "".join(suffixes)
    assert stem(word) == twin(word)


@pytest.mark.parametrize(
    "word",
    [
        "", "Y", "ß", "İstanbul", "Dying", "skies", "PROCEED", "naïvely", "İi",
        "sayyed",
    ],
)  # fmt: skip
def test_odd_words(twin, word: str) -> None:
    assert stem(word) == twin(word)


def test_the_ending_logi_loses_a_letter_where_a_syllable_is_before_it():
    assert [stem(word) for word in ("eulogy", "analogies", "logi")] == [
        "eulog", "analog", "logi",
    ]  # fmt: skip
