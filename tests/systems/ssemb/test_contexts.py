"""Texts around formulas."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mathamr_kedro.base.records import FormulaMention, Post
from mathamr_kedro.systems.ssemb.search import Contexts, find_window


def make_post(pieces, latex):
    """A text in which words and formulas take turns."""
    text, mentions = "", []
    for number, piece in enumerate(pieces):
        text += piece
        if number < len(latex):
            name = f"FORMULA_{number}"
            spot = len(text), len(text) + len(name)
            mentions.append(
                FormulaMention(name, f"f{number}", "1", latex[number], *spot)
            )
            text += name
    return Post(
        "1", "answer", "1", None, None, None, None, (), "", text, tuple(mentions)
    )


def windows_of(size, length, step):
    """All windows of a text: as many as reach its end."""
    found = [(0, min(length, size))]
    while found[-1][1] < size:
        start = found[-1][0] + step
        found.append((start, min(start + length, size)))
    return found


@given(
    st.integers(0, 3000), st.integers(1, 800), st.integers(1, 800), st.integers(0, 3000)
)
def test_a_window_is_the_nearest_of_all(size, length, step, place):
    place = min(place, size)
    known = [start for start, _ in windows_of(size, length, step)]
    start = find_window(place, size, length, step)
    assert start in known

    def distance(window):
        return abs(window + length / 2 - place)

    assert distance(start) == min(map(distance, known))


@given(
    st.lists(st.text("ab c", max_size=900), min_size=1, max_size=6),
    st.lists(st.text("xy^2", min_size=1, max_size=40), max_size=5),
)
def test_contexts_are_parts_of_the_text_with_its_latex(pieces, latex):
    latex = latex[: len(pieces)]
    post = make_post(pieces, latex)
    whole = "".join(
        p + (f"${latex[i]}$" if i < len(latex) else "") for i, p in enumerate(pieces)
    )
    contexts = Contexts.read(post)
    assert list(contexts.by_formula) == [f"f{i}" for i in range(len(latex))]
    position = 0
    for number, formula in enumerate(latex):
        middle = position + len(pieces[number]) + (len(formula) + 2) // 2
        position += len(pieces[number]) + len(formula) + 2
        start = find_window(middle, len(whole), 1024, 512)
        assert contexts.find(f"f{number}") == whole[start : start + 1024]
    assert contexts.find("elsewhere") == whole[:1024]


def test_a_short_post_has_one_text_for_all_formulas():
    post = make_post(["let ", " and ", " be even"], ["x", "y"])
    found = Contexts.read(post).by_formula
    assert set(found.values()) == {"let $x$ and $y$ be even"}
